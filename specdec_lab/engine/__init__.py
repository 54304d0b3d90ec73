"""The engine: the rule, the loop around it, and the trace that it leaves. Start at `verify`."""
