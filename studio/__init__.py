"""The back office of a live-dealer studio: shoe, round, money, people."""
