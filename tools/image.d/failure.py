"""Failure: what went wrong, in words for the person at the terminal."""


class Failure(Exception):
    pass
