"""The benchmarks: the studio and a peer beside it, measured in one run on one machine.

Absolute figures drift with the machine and the hour, so what is held to a goal is always a ratio
of two measurements of the same run. Everything runs on a database of its own, on the loopback,
bounded in number and time.
"""
