"""Pok Deng: five player hands against the banker's, two cards each. Source: rule book, 17."""
