"""What a learner does, apart from any widget: guesses and answers, judged and kept."""
