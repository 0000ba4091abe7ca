"""What a studio is made of: pure rules and state machines, standard library only."""
