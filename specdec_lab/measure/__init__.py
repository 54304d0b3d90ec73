"""What decoding costs and brings here: passes and rounds, benchmarks, load, one's own traffic."""
