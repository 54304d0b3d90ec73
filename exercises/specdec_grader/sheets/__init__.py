"""What each exercise asks, and which mistakes it knows."""
