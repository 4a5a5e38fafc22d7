//! Holder of a taken port, as far as this machine tells: a server of ours with its version, else the process.

use std::net::SocketAddr;

use mnemal_server::reachable;

use crate::remote;

/// Returns ` by …` for a known holder; nothing for an unknown one.
pub(super) fn named(listen: SocketAddr) -> String {
    let process = process::holding(listen);
    match (remote::version_at(reachable(listen)), process) {
        (Some(version), Some(process)) => format!(" by a mnemal server, version {version} ({process})"),
        (Some(version), None) => format!(" by a mnemal server, version {version}"),
        (None, Some(process)) => format!(" by {process}"),
        (None, None) => String::new(),
    }
}

/// Other systems than Linux tell it to their own tools only.
#[cfg(not(target_os = "linux"))]
mod process {
    use std::net::SocketAddr;

    pub(super) fn holding(_listen: SocketAddr) -> Option<String> {
        None
    }
}

/// The tables of the kernel below `/proc`.
#[cfg(target_os = "linux")]
mod process {
    use std::net::{IpAddr, SocketAddr};
    use std::path::Path;

    /// The state of a listening socket. Source: `TCP_LISTEN` in Linux' `net/tcp_states.h`.
    const LISTENING: &str = "0A";

    /// Returns `process ID (NAME)` of the process that listens; `None` for one of another user.
    pub(super) fn holding(listen: SocketAddr) -> Option<String> {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
        let link = tables.iter().flatten().find_map(|table| socket(table, listen))?;
        let mut processes = std::fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
        let holder = processes.find(|process| has_open(process, &link))?;
        let id = holder.file_name()?.to_str()?.to_owned();
        let name = std::fs::read_to_string(holder.join("comm")).unwrap_or_default();
        Some(format!("process {id} ({})", name.trim_end()))
    }

    /// Returns the link to the socket that stands in the way of the address.
    fn socket(table: &str, listen: SocketAddr) -> Option<String> {
        let wanted = shown(listen.ip());
        table.lines().skip(1).find_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (ip, port) = fields.get(1)?.rsplit_once(':')?;
            let is_any = |ip: &str| ip.bytes().all(|digit| digit == b'0');
            let is_same = ip == wanted || is_any(ip) || is_any(&wanted);
            let is_there = *fields.get(3)? == LISTENING && port == format!("{:04X}", listen.port());
            (is_same && is_there).then(|| fields.get(9).map(|inode| format!("socket:[{inode}]")))?
        })
    }

    /// Writes an address as the kernel does: each group of four bytes as a number of the machine's byte order.
    fn shown(ip: IpAddr) -> String {
        let number = |bytes: &[u8]| <[u8; 4]>::try_from(bytes).map(u32::from_ne_bytes).unwrap_or_default();
        let of = |bytes: &[u8]| {
            let groups: Vec<String> = bytes.chunks(4).map(|four| format!("{:08X}", number(four))).collect();
            groups.concat()
        };
        match ip {
            IpAddr::V4(ip) => of(&ip.octets()),
            IpAddr::V6(ip) => of(&ip.octets()),
        }
    }

    fn has_open(process: &Path, link: &str) -> bool {
        let files = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|target| target.as_os_str() == link)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                             0: 0100007F:39AF 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 11 1 0\n   \
                             1: 0100007F:39AF 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 22 1 0\n   \
                             2: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 33 1 0\n";

        #[cfg(target_endian = "little")]
        #[test]
        fn a_listening_socket_is_found_at_its_own_address_and_at_any() {
            let found = |listen: &str| socket(TABLE, listen.parse().unwrap());
            assert_eq!(found("127.0.0.1:14767").as_deref(), Some("socket:[22]"));
            assert_eq!(found("0.0.0.0:14767").as_deref(), Some("socket:[22]"));
            assert_eq!(found("192.168.0.7:8080").as_deref(), Some("socket:[33]"));
            assert_eq!(found("192.168.0.7:14767"), None);
            assert_eq!(found("127.0.0.1:80"), None);
        }

        #[cfg(target_endian = "little")]
        #[test]
        fn an_address_is_written_as_the_kernel_writes_it() {
            assert_eq!(shown("127.0.0.1".parse().unwrap()), "0100007F");
            assert_eq!(shown("::1".parse().unwrap()), "00000000000000000000000001000000");
        }
    }
}
