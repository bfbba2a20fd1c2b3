//! The address of a store, and the connections to it.

use core::time::Duration;
use std::sync::Arc;

use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind,
    IntoConnectionInfo, ProtocolVersion, PushInfo, RedisError, ServerErrorKind, TlsCertificates,
    Value, cmd,
};

use crate::error::{Failure, RedisConfigError};
use crate::time::{first, sleep};

/// A store, as its URLs name it.
#[derive(Clone)]
pub(crate) enum Target {
    One(ConnectionInfo),
    /// The primary of this name, which these Sentinels know. The host of `primary` is replaced by what
    /// they say.
    Sentinel {
        sentinels: Vec<ConnectionInfo>,
        name: Arc<str>,
        primary: ConnectionInfo,
    },
    /// A cluster with these nodes, among others.
    Cluster {
        nodes: Vec<ConnectionInfo>,
        tls: Option<TlsCertificates>,
    },
}

/// A connection for commands.
#[derive(Clone)]
pub(crate) enum Connection {
    One(MultiplexedConnection),
    Cluster {
        connection: ClusterConnection,
        /// The settings by which the nodes are reached.
        node: ConnectionInfo,
    },
}

/// Receives what the server pushes to a connection, and the end of the connection.
pub(crate) type Push = Arc<dyn Fn(PushInfo) + Send + Sync>;

impl Target {
    pub(crate) fn one(url: &str) -> Result<Self, RedisConfigError> {
        parse(url).map(Self::One)
    }

    pub(crate) fn sentinel(sentinels: &[&str], primary: &str) -> Result<Self, RedisConfigError> {
        let primary = parse(primary)?;
        let name = match primary.addr() {
            ConnectionAddr::Tcp(name, _) => name.as_str().into(),
            ConnectionAddr::TcpTls { host, .. } => host.as_str().into(),
            _ => return Err(RedisConfigError("Sentinel knows primaries by their names")),
        };
        Ok(Self::Sentinel {
            sentinels: parse_all(sentinels)?,
            name,
            primary,
        })
    }

    pub(crate) fn cluster(nodes: &[&str]) -> Result<Self, RedisConfigError> {
        let target = Self::Cluster {
            nodes: parse_all(nodes)?,
            tls: None,
        };
        target.cluster_client(Duration::ZERO).and_then(|builder| match builder.build() {
            Ok(_) => Ok(target),
            Err(_) => Err(RedisConfigError(
                "the URLs of the nodes of a cluster differ by host and port only, and name no database",
            )),
        })
    }

    /// Sets the certificates of connections with TLS.
    pub(crate) fn certify(
        &mut self,
        certificates: &TlsCertificates,
    ) -> Result<(), RedisConfigError> {
        let (nodes, primary) = match self {
            Self::One(info) => (core::slice::from_mut(info), None),
            Self::Sentinel {
                sentinels, primary, ..
            } => (&mut **sentinels, Some(primary)),
            Self::Cluster { nodes, tls } => {
                *tls = Some(certificates.clone());
                (&mut **nodes, None)
            }
        };
        let mut used = false;
        for info in nodes.iter_mut().chain(primary) {
            if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
                let client = Client::build_with_tls(info.clone(), certificates.clone());
                let client =
                    client.map_err(|_| RedisConfigError("the certificates are not PEM"))?;
                *info = client.get_connection_info().clone();
                used = true;
            }
        }
        match used {
            true => Ok(()),
            false => Err(RedisConfigError("only `rediss://` has certificates")),
        }
    }

    /// The number of the database.
    pub(crate) fn database(&self) -> i64 {
        match self {
            Self::One(info) | Self::Sentinel { primary: info, .. } => info.redis_settings().db(),
            Self::Cluster { .. } => 0,
        }
    }

    /// A connection for commands; each of them has this time.
    pub(crate) async fn connect(&self, limit: Duration, push: Push) -> Result<Connection, Failure> {
        let failed = |error: RedisError| Failure::of(&error, limit);
        match self {
            Self::Cluster { nodes, .. } => {
                use_ring(nodes);
                let client = self
                    .cluster_client(limit)
                    .map_err(|error| Failure::Unreachable(error.0.into()))?;
                let client = client.build().map_err(failed)?;
                let connection = client.get_async_connection().await.map_err(failed)?;
                let node = nodes.first().ok_or(Failure::Unexpected)?.clone();
                Ok(Connection::Cluster { connection, node })
            }
            _ => self.connect_one(limit, push, "").await.map(Connection::One),
        }
    }

    /// A connection to the one server that has this channel.
    pub(crate) async fn connect_one(
        &self,
        limit: Duration,
        push: Push,
        channel: &str,
    ) -> Result<MultiplexedConnection, Failure> {
        match self {
            Self::One(info) => connect(info, limit, push).await,
            Self::Sentinel {
                sentinels,
                name,
                primary,
            } => {
                let attempts = sentinels.iter();
                let attempts = attempts.map(|it| ask_sentinel(it, name, primary, limit, &push));
                first(attempts).await
            }
            Self::Cluster { nodes, .. } => {
                let attempts = nodes.iter().map(|it| ask_node(it, channel, limit, &push));
                first(attempts).await
            }
        }
    }

    fn cluster_client(&self, limit: Duration) -> Result<ClusterClientBuilder, RedisConfigError> {
        let Self::Cluster { nodes, tls } = self else {
            return Err(RedisConfigError("the store is no cluster"));
        };
        // A command whose reply was lost must not be repeated: what the cluster refuses is repeated here.
        let builder = ClusterClientBuilder::new(nodes.clone())
            .retries(0)
            .connection_timeout(limit / 4)
            .response_timeout(limit)
            .overall_response_timeout(None)
            .tcp_settings(TcpSettings::default().set_nodelay(true));
        Ok(match tls {
            Some(certificates) => builder.certs(certificates.clone()),
            None => builder,
        })
    }
}

impl Connection {
    /// Sends a command, and waits for its reply. A cluster may refuse it because another node has the
    /// key: it is sent there then.
    pub(crate) async fn send(
        &mut self,
        command: &Cmd,
        limit: Duration,
    ) -> Result<Value, RedisError> {
        let (connection, node) = match self {
            Self::One(connection) => return command.query_async(connection).await,
            Self::Cluster { connection, node } => (connection, node),
        };
        for attempt in 0..MAX_REDIRECTS {
            let refused = match command.query_async::<Value>(connection).await {
                Err(error) if error.is_cluster_error() => error,
                reply => return reply,
            };
            match (refused.kind(), refused.redirect_node()) {
                (ErrorKind::Server(ServerErrorKind::Ask), Some((address, _))) => {
                    let mut connection = open(&at(node, address)?, limit, None).await?;
                    let mut pipeline = redis::pipe();
                    pipeline.cmd("ASKING").ignore().add_command(command.clone());
                    let values: Vec<Value> = pipeline.query_async(&mut connection).await?;
                    return Ok(values.into_iter().next().unwrap_or(Value::Nil));
                }
                // The client has begun to read which node has which keys.
                (ErrorKind::Server(ServerErrorKind::Moved | ServerErrorKind::TryAgain), _) => {
                    sleep(REDIRECT_WAIT * attempt).await;
                }
                _ => return Err(refused),
            }
        }
        command.query_async(connection).await
    }
}

async fn connect(
    info: &ConnectionInfo,
    limit: Duration,
    push: Push,
) -> Result<MultiplexedConnection, Failure> {
    let opened = open(info, limit, Some(push)).await;
    opened.map_err(|error| Failure::of(&error, limit))
}

async fn open(
    info: &ConnectionInfo,
    limit: Duration,
    push: Option<Push>,
) -> Result<MultiplexedConnection, RedisError> {
    use_ring(core::slice::from_ref(info));
    let mut config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(limit))
        .set_response_timeout(Some(limit));
    if let Some(push) = push {
        config = config.set_push_sender(move |info| {
            push(info);
            Ok::<(), ()>(())
        });
    }
    let client = Client::open(info.clone())?;
    client
        .get_multiplexed_async_connection_with_config(&config)
        .await
}

/// A connection to the primary that a Sentinel names.
async fn ask_sentinel(
    sentinel: &ConnectionInfo,
    name: &str,
    primary: &ConnectionInfo,
    limit: Duration,
    push: &Push,
) -> Result<MultiplexedConnection, Failure> {
    let failed = |error: RedisError| Failure::of(&error, limit);
    let mut connection = open(sentinel, limit, None).await.map_err(failed)?;
    let mut command = cmd("SENTINEL");
    command.arg("GET-MASTER-ADDR-BY-NAME").arg(name);
    let address: Option<(String, u16)> =
        command.query_async(&mut connection).await.map_err(failed)?;
    let (host, port) =
        address.ok_or_else(|| Failure::Refused("Sentinel knows no primary of this name".into()))?;
    let mut connection = connect(&moved(primary, host, port), limit, Arc::clone(push)).await?;
    let role: Vec<Value> = cmd("ROLE")
        .query_async(&mut connection)
        .await
        .map_err(failed)?;
    match role.first() {
        Some(Value::BulkString(role)) if role == b"master" => Ok(connection),
        _ => Err(Failure::Unreachable(
            "the server that Sentinel names is no primary".into(),
        )),
    }
}

/// A connection to the node of a cluster that has this key.
async fn ask_node(
    node: &ConnectionInfo,
    key: &str,
    limit: Duration,
    push: &Push,
) -> Result<MultiplexedConnection, Failure> {
    let failed = |error: RedisError| Failure::of(&error, limit);
    let mut connection = connect(node, limit, Arc::clone(push)).await?;
    let found: Result<Value, _> = cmd("EXISTS").arg(key).query_async(&mut connection).await;
    match found {
        Ok(_) => Ok(connection),
        Err(error) => match error.redirect_node() {
            Some((address, _)) => {
                let owner = at(node, address).map_err(failed)?;
                connect(&owner, limit, Arc::clone(push)).await
            }
            None => Err(failed(error)),
        },
    }
}

/// The node at an address as a redirection has it; without a host it is that of this one.
fn at(node: &ConnectionInfo, address: &str) -> Result<ConnectionInfo, RedisError> {
    let parsed = address.rsplit_once(':');
    let parsed = parsed.and_then(|(host, port)| Some((host, port.parse().ok()?)));
    let (host, port) = parsed.ok_or((ErrorKind::Parse, "a redirection has no address"))?;
    let host = match (host, node.addr()) {
        ("", ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. }) => host.as_str(),
        _ => host,
    };
    Ok(moved(node, host.to_owned(), port))
}

/// The settings of one server, for another address.
fn moved(info: &ConnectionInfo, host: String, port: u16) -> ConnectionInfo {
    let address = match info.addr() {
        ConnectionAddr::TcpTls {
            insecure,
            tls_params,
            ..
        } => ConnectionAddr::TcpTls {
            host,
            port,
            insecure: *insecure,
            tls_params: tls_params.clone(),
        },
        _ => ConnectionAddr::Tcp(host, port),
    };
    info.clone().set_addr(address)
}

fn parse(url: &str) -> Result<ConnectionInfo, RedisConfigError> {
    let info = url.into_connection_info().map_err(|_| {
        RedisConfigError("the URL of a store is like `redis://127.0.0.1:6379` or `unix:///path`")
    })?;
    if matches!(info.addr(), ConnectionAddr::TcpTls { insecure: true, .. }) {
        return Err(RedisConfigError("certificates are always verified"));
    }
    let settings = info.redis_settings().clone();
    // RESP3 says at once that a connection has ended.
    let settings = settings
        .set_protocol(ProtocolVersion::RESP3)
        .set_skip_set_lib_name();
    let tcp = TcpSettings::default().set_nodelay(true);
    Ok(info.set_redis_settings(settings).set_tcp_settings(tcp))
}

fn parse_all(urls: &[&str]) -> Result<Vec<ConnectionInfo>, RedisConfigError> {
    match urls {
        [] => Err(RedisConfigError("at least one address is needed")),
        urls => urls.iter().map(|url| parse(url)).collect(),
    }
}

/// The crate takes the provider of the process, and panics if none is set and several are linked.
fn use_ring(nodes: &[ConnectionInfo]) {
    let tls = |info: &ConnectionInfo| matches!(info.addr(), ConnectionAddr::TcpTls { .. });
    if nodes.iter().any(tls) && rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have been faster.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

/// Number of times that a command is sent again because other nodes have its key.
const MAX_REDIRECTS: u32 = 5;

/// The first wait before that, if the client knew no better at once.
const REDIRECT_WAIT: Duration = Duration::from_millis(20);
