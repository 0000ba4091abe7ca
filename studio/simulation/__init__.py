"""A studio in one thread: the real domain and services on a simulated world, to hunt for faults.

Clock, store, network, scanner, people and processes are simulated and driven by one seeded
generator, so that a seed that finds a fault finds it again. Everything that has to be always true
is looked at after every step. Source: DESIGN section 11, PERFORMANCE "Layers of our own
programme" (L0).
"""
