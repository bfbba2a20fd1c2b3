/* Serves one client on standard input and output. */
#include <stdio.h>
#include <unistd.h>

#include "mcp_server.h"

/* Writes all that is there for the client; returns false if the client is gone. */
static bool write_all(void) {
    uint8_t buffer[100];
    size_t count;
    while ((count = mcp_write((mcp_output){buffer, sizeof buffer})) > 0) {
        for (size_t sent = 0; sent < count;) {
            ssize_t written = write(STDOUT_FILENO, buffer + sent, count - sent);
            if (written <= 0)
                return false;
            sent += (size_t)written;
        }
    }
    return true;
}

int main(void) {
    size_t size = mcp_open();
    if (size == 0)
        return 1;
    fprintf(stderr, "%zu bytes for the connection\n", size);
    uint8_t buffer[100];
    ssize_t count;
    while ((count = read(STDIN_FILENO, buffer, sizeof buffer)) > 0) {
        for (size_t taken = 0; taken < (size_t)count;) {
            taken += mcp_read((mcp_input){buffer + taken, (size_t)count - taken});
            /* This server has no timers, so no clock is read. */
            bool is_full;
            do {
                is_full = mcp_work(0);
                if (!write_all())
                    return 1;
            } while (is_full);
        }
    }
    return count < 0;
}
