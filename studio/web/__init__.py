"""The doors: pages, JSON, Socket.IO, roles."""
