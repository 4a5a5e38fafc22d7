//! `mnemal key`.

use anyhow::Result;
use mnemal::admin::AuditLog;
use mnemal::ports::{Clock as _, SystemClock};
use mnemal::{Error, SpaceId, UserId, Within};
use mnemal_server::auth::{KeyClass, KeyEntry, KeyId, Keyring, NewKey, Right, Rights, local_key};
use mnemal_server::wire::{IssuedForm, KeyForm, KeysForm};

use crate::args::{Global, Key};
use crate::output::Output;
use crate::storage::Storage;
use crate::{config, paths, time};

use super::database;

/// Creates, lists or revokes keys, or prints the local one.
pub(super) async fn run(global: &Global, call: Key, output: &Output) -> Result<u8> {
    let now = SystemClock::default().now();
    match call {
        Key::Create { name, rights, class, user, expires } => {
            let right = |name: &String| {
                let names = || Right::ALL.map(Right::as_str).join(", ");
                Right::from_name(name)
                    .ok_or_else(|| Error::invalid(format!("no right {name:?}; there are {}", names())))
            };
            let class =
                KeyClass::from_name(&class).ok_or_else(|| Error::invalid("a key is for app or agent"))?;
            let expires_at = match expires {
                Some(span) => Some(now.plus_micros(time::duration_micros(&span)?)),
                None => None,
            };
            let rights = Rights::new(rights.iter().map(right).collect::<Result<Vec<_>, _>>()?);
            let new = NewKey {
                name,
                class,
                rights,
                spaces: spaces(global)?,
                user: user.map(UserId::new).transpose()?,
                expires_at,
            };
            let issued = keyring(global).await?.create(new, now).await?;
            output.answer(&IssuedForm::from(&issued), || {
                format!("{}\n{}", issued.secret.expose(), line(&issued.entry))
            })?;
        }
        Key::List => {
            let entries = keyring(global).await?.list().await?;
            let form = KeysForm::from(entries.as_slice());
            output.list(&form.items, &form, || entries.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        }
        Key::Revoke { id } => {
            let entry = keyring(global).await?.revoke(&KeyId::new(&id)?, now).await?;
            output.answer(&KeyForm::from(&entry), || line(&entry))?;
        }
        Key::Local => output.print(local_key(&paths::local_key_file()?)?.expose())?,
    }
    Ok(0)
}

/// Returns the keyring of the data directory, or of the database that holds the spaces.
pub(super) async fn keyring(global: &Global) -> Result<Keyring> {
    let place = paths::SpacePaths::find_several(global)?;
    let data = place
        .data
        .clone()
        .ok_or_else(|| Error::invalid("keys belong to the data directory; leave --db out"))?;
    let is_logged = config::read(global)?.privacy.audit_log;
    let audit = if is_logged { Some(AuditLog::beside(&place.key)?) } else { None };
    Ok(match &place.storage {
        Storage::File(_) => Keyring::audited(data, audit),
        Storage::Database(address) => Keyring::in_database(database::connect_once(address).await?, audit),
    })
}

/// Returns the spaces named on the command line; all if none is named.
fn spaces(global: &Global) -> Result<Within<Vec<SpaceId>>> {
    let Some(names) = &global.space else { return Ok(Within::All) };
    let spaces = names.split(',').map(|name| SpaceId::new(name.trim()));
    Ok(Within::Only(spaces.collect::<Result<Vec<_>, _>>()?))
}

fn line(entry: &KeyEntry) -> String {
    let spaces = match &entry.spaces {
        Within::All => "all spaces".to_owned(),
        Within::Only(spaces) => spaces.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
    };
    let user = entry.user.as_ref().map(|user| format!("  user {user}")).unwrap_or_default();
    let end = match (entry.revoked_at, entry.expires_at) {
        (Some(at), _) => format!("  revoked {at}"),
        (None, Some(at)) => format!("  until {at}"),
        (None, None) => String::new(),
    };
    format!(
        "{}  {}  {}  {}  {spaces}{user}{end}",
        entry.id,
        entry.name,
        entry.class.as_str(),
        entry.rights.names().join(",")
    )
}
