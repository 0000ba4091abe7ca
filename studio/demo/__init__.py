"""A studio that plays by itself: simulated hands and players, everything else real.

The dealer and the players are programs, but they come in through the real doors: the server and
the scanner are processes of their own, cards are drawn as frames and read by the real decoder,
wagers are requests, results arrive by socket.
"""
