"""Quick arithmetic on a CPU, with the same bits for a row whatever stands beside it. (`attention` also has a GPU's.)"""
