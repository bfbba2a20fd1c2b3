/* An MCP server in a static library. One connection at a time; the functions may be called by any thread. They wait
   for each other on a spin lock: one that a signal handler or an interrupt calls while another runs never returns. */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that the library reads. The pointer is never null, and is kept by no function. */
typedef struct {
    const uint8_t *bytes;
    size_t length;
} mcp_input;

/* Bytes that the library writes. */
typedef struct {
    uint8_t *bytes;
    size_t length;
} mcp_output;

/* Begins a connection, in place of the one before. Returns the bytes that it takes, or 0 for an error. */
size_t mcp_open(void);

/* Takes bytes of the client and returns how many. With fewer than there are: mcp_work, mcp_write, and again.
   Before mcp_open it takes all and drops them. */
size_t mcp_read(mcp_input input);

/* Handles what was read. Returns whether the client has to be written to before more can be handled. */
bool mcp_work(uint64_t milliseconds);

/* Fills the buffer with bytes for the client and returns how many there are. */
size_t mcp_write(mcp_output buffer);

#endif
