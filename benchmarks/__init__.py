"""Speed, memory and peers, measured side by side: `python -m benchmarks` runs them all in their short form."""
