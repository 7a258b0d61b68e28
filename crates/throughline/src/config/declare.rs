//! One declaration per setting. The macro [`tables!`] turns the declarations in `settings.rs` into the typed structs with
//! their defaults, and into [`Table`]s, from which the checks, the suggestions for unknown keys, `config show` and the
//! reference are made.

use serde_json::Value;

use super::settings::TABLES;
use super::values::Takes;

/// A table of the file.
#[derive(Debug)]
pub(super) struct Table {
    /// Its name, as in `[memory]`; of a table in a group with the group's, as in `[channels.telegram]`.
    pub(super) name: &'static str,
    /// Its keys, in the order in which they are declared and shown.
    pub(super) keys: &'static [Key],
}

/// A key of a table.
#[derive(Debug)]
pub(super) struct Key {
    /// Its name.
    pub(super) name: &'static str,
    /// What it takes.
    pub(super) takes: Takes,
    /// Whether it may be left empty; its default is then unset.
    pub(super) is_optional: bool,
    /// What it does: the lines of its doc comment. `{range}` stands for the range of a number.
    pub(super) help: &'static [&'static str],
    /// A value as TOML, for a key that is unset by default.
    pub(super) example: Option<&'static str>,
}

/// The table of this name.
pub(super) fn known_table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

/// Every key by its dotted name, with the first line of its help.
pub fn keys() -> impl Iterator<Item = (String, &'static str)> {
    let of = |table: &'static Table| {
        let helps = table.keys.iter().map(|key| key.help.first().map_or("", |line| line.trim()));
        table.dotted().zip(helps)
    };
    TABLES.iter().flat_map(of)
}

/// Whether tables stand below this name.
pub(super) fn is_group(name: &str) -> bool {
    TABLES.iter().any(|table| table.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

impl Table {
    /// Its value in a tree of settings.
    pub(super) fn of<'t>(&self, tree: &'t Value) -> &'t Value {
        self.name.split('.').fold(tree, |tree, name| &tree[name])
    }

    /// The key of this name.
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The dotted names of its keys.
    pub(super) fn dotted(&self) -> impl Iterator<Item = String> {
        self.keys.iter().map(|key| format!("{}.{}", self.name, key.name))
    }
}

/// The one that is there, if any: for a part of a declaration that may be left out.
pub(super) const fn only(given: &[&'static str]) -> Option<&'static str> {
    match given {
        [] => None,
        [one, ..] => Some(one),
    }
}

/// Declares the tables of the config file and their settings:
///
/// ```text
/// /// What the table is about.
/// table: StructOfTheTable {
///     /// Help: one or more lines, shown in `defaults.toml` and in docs/config.md.
///     name: Type = default, in 1..=365, such as "example";
/// }
/// in group: StructOfTheGroup {
///     /// The table `[group.table]`.
///     table: StructOfTheTable { … }
/// }
/// ```
///
/// The type says which values the key takes, see [`Setting`](super::values::Setting). `in` narrows a whole number,
/// `such as` is shown for an optional setting.
macro_rules! tables {
    (
        $($(#[doc = $about:literal])+ $table:ident: $struct_name:ident { $($keys:tt)+ })+
        $(in $group:ident: $group_name:ident {
            $($(#[doc = $below_about:literal])+ $below:ident: $below_name:ident { $($below_keys:tt)+ })+
        })*
    ) => {
        /// All settings.
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Config {
            $($(#[doc = $about])+ pub $table: $struct_name,)+
            $(#[doc = concat!("The tables below `", stringify!($group), "`.")] pub $group: $group_name,)*
        }

        $($crate::config::declare::table!($(#[doc = $about])+ $struct_name { $($keys)+ });)+

        $(
            #[doc = concat!("The tables below `", stringify!($group), "`.")]
            #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
            #[serde(default, deny_unknown_fields)]
            pub struct $group_name {
                $($(#[doc = $below_about])+ pub $below: $below_name,)+
            }

            $($crate::config::declare::table!($(#[doc = $below_about])+ $below_name { $($below_keys)+ });)+
        )*

        /// The whole file.
        pub(super) const TABLES: &[$crate::config::declare::Table] = &[
            $($crate::config::declare::Table { name: stringify!($table), keys: $struct_name::KEYS },)+
            $($($crate::config::declare::Table {
                name: concat!(stringify!($group), ".", stringify!($below)),
                keys: $below_name::KEYS,
            },)+)*
        ];
    };
}

/// Declares one table: its struct, the defaults and the keys.
macro_rules! table {
    ($(#[doc = $about:literal])+ $struct_name:ident {
        $(
            $(#[doc = $help:literal])+
            $name:ident: $type:ty = $default:expr $(, in $range:expr)? $(, such as $example:literal)?;
        )+
    }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $struct_name {
            $($(#[doc = $help])+ pub $name: $type,)+
        }

        impl $struct_name {
            const KEYS: &[$crate::config::declare::Key] = &[$($crate::config::declare::Key {
                name: stringify!($name),
                takes: <$type as Setting>::TAKES $(.within($range))?,
                is_optional: <$type as Setting>::IS_OPTIONAL,
                help: &[$($help),+],
                example: $crate::config::declare::only(&[$(stringify!($example))?]),
            }),+];
        }

        impl Default for $struct_name {
            fn default() -> Self {
                Self { $($name: $default),+ }
            }
        }
    };
}

pub(super) use {table, tables};
