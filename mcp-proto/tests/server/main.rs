//! The server role, told as conversations over one pipe.

mod legacy;
mod talk;

use talk::Talk;
