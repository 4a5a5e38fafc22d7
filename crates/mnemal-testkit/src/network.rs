//! A thread without a network.

use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Removes network access from the calling thread, and from every thread and process that it starts afterwards; this is
/// permanent.
///
/// Every socket but those of the local file system is then refused with [`io::ErrorKind::PermissionDenied`], the loopback
/// interface and name resolution included. Open sockets and running threads are unaffected: a test calls it first.
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`] on a processor for which no filter can be made, and the error of the system where it takes
/// none.
///
/// ```
/// std::thread::spawn(|| {
///     mnemal_testkit::deny_network().unwrap();
///     let refused = std::net::TcpListener::bind("127.0.0.1:0").unwrap_err();
///     assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
/// })
/// .join()
/// .unwrap();
/// ```
pub fn deny_network() -> io::Result<()> {
    let filter = filter().map_err(|error| io::Error::new(io::ErrorKind::Unsupported, error))?;
    seccompiler::apply_filter(&filter).map_err(io::Error::other)
}

fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let domain = u64::from(libc::AF_UNIX.unsigned_abs());
    let elsewhere = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, domain)?;
    let rules = [(libc::SYS_socket, vec![SeccompRule::new(vec![elsewhere])?])];
    let denied = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    let processor = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules.into_iter().collect(), SeccompAction::Allow, denied, processor)?.try_into()
}
