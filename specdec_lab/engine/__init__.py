"""The engine: the rule, the loop around it, and the trace that it leaves. Start at `forty_lines`, then `verify`."""
