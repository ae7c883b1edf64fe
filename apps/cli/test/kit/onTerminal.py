"""Runs a program on a terminal of its own: what comes in is typed, what it shows goes out. Ends as the program ends."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns = int(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])

fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
sources = [terminal, 0]
while terminal in sources:
    for source in select.select(sources, [], [])[0]:
        try:
            data = os.read(source, 65536)
        except OSError:
            data = b""
        if not data:
            sources.remove(source)
        elif source == terminal:
            os.write(1, data)
        else:
            os.write(terminal, data)

status = os.waitpid(child, 0)[1]
sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
