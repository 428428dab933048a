"""Random edits, kills, damage and concurrent builds, round after round: each must end as a clean build does.

`python -m tests.rounds --rounds 200 --seed 1` runs for about 20 minutes; a short one is part of the scenarios.
"""
