"""Baccarat: player side against banker side, third cards by table. Source: rule book, 1."""
