//! The two runtimes, chosen on the command line.

use core::future::Future;
use std::io;

use crate::tasks::TaskServer;
use crate::{client, oauth, protected, server, tasks_client};

/// What a server or a client runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Runtime {
    Tokio,
    Smol,
}

impl Runtime {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "tokio" => Some(Self::Tokio),
            "smol" => Some(Self::Smol),
            _ => None,
        }
    }

    pub(crate) fn serve_stdio(self) -> io::Result<()> {
        match self {
            Self::Tokio => on_tokio(server::stdio::<mcp_tokio::Runtime>()),
            Self::Smol => smol::block_on(server::stdio::<mcp_smol::Runtime>()),
        }
    }

    pub(crate) fn serve_http(self, port: &str) -> io::Result<()> {
        match self {
            Self::Tokio => on_tokio(server::http::<mcp_tokio::Runtime>(port)),
            Self::Smol => smol::block_on(server::http::<mcp_smol::Runtime>(port)),
        }
    }

    pub(crate) fn serve_http_auth(self, port: &str) -> io::Result<()> {
        match self {
            Self::Tokio => on_tokio(protected::http::<mcp_tokio::Runtime>(port)),
            Self::Smol => smol::block_on(protected::http::<mcp_smol::Runtime>(port)),
        }
    }

    pub(crate) fn serve_tasks(self, server: TaskServer<'_>) -> io::Result<()> {
        match self {
            Self::Tokio => on_tokio(server.serve::<mcp_tokio::Runtime>()),
            Self::Smol => smol::block_on(server.serve::<mcp_smol::Runtime>()),
        }
    }

    pub(crate) fn client_stdio(self, program: &str, args: &[&str]) -> io::Result<()> {
        match self {
            Self::Tokio => on_tokio(client::stdio::<mcp_tokio::Runtime>(program, args)),
            Self::Smol => smol::block_on(client::stdio::<mcp_smol::Runtime>(program, args)),
        }
    }

    pub(crate) fn client_oauth(self, url: &str) -> io::Result<()> {
        match self {
            Self::Tokio => on_tokio(oauth::run::<mcp_tokio::Runtime>(url)),
            Self::Smol => smol::block_on(oauth::run::<mcp_smol::Runtime>(url)),
        }
    }

    pub(crate) fn client_tasks_stdio(self, program: &str, args: &[&str]) -> io::Result<()> {
        match self {
            Self::Tokio => on_tokio(tasks_client::stdio::<mcp_tokio::Runtime>(program, args)),
            Self::Smol => smol::block_on(tasks_client::stdio::<mcp_smol::Runtime>(program, args)),
        }
    }

    pub(crate) fn client_tasks_http(self, url: &str) -> io::Result<()> {
        match self {
            Self::Tokio => on_tokio(tasks_client::http::<mcp_tokio::Runtime>(url)),
            Self::Smol => smol::block_on(tasks_client::http::<mcp_smol::Runtime>(url)),
        }
    }

    pub(crate) fn client_http(self, url: &str) -> io::Result<()> {
        match self {
            Self::Tokio => on_tokio(client::http::<mcp_tokio::Runtime>(url)),
            Self::Smol => smol::block_on(client::http::<mcp_smol::Runtime>(url)),
        }
    }
}

fn on_tokio(program: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build()?.block_on(program)
}
