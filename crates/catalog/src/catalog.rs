//! The list of assets: the embedded one, and the user's over it.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::{Asset, CatalogError};

/// The embedded catalogue.
const EMBEDDED: &str = include_str!("models.toml");
/// The embedded catalogue's name in messages.
const EMBEDDED_NAME: &str = "models.toml (built in)";

/// Every known asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    assets: Vec<Asset>,
}

/// The file: a list of `[[asset]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogFile {
    #[serde(default, rename = "asset")]
    assets: Vec<Spanned<Asset>>,
}

impl Catalog {
    /// The embedded catalogue with the user's entries over it. `user` need not exist; an entry of the
    /// same name replaces the embedded one.
    pub fn load(user: Option<&Path>) -> Result<Self, CatalogError> {
        let mut catalog = Self::parse(EMBEDDED_NAME, EMBEDDED)?;
        let Some(path) = user else { return Ok(catalog) };
        match std::fs::read_to_string(path) {
            Ok(text) => catalog.overlay(Self::parse(&path.display().to_string(), &text)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(CatalogError::io(path, &error)),
        }
        Ok(catalog)
    }

    /// Reads the text of a catalogue; `name` stands in messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, CatalogError> {
        let place = |offset: usize| {
            let line = text.get(..offset).map_or(1, |before| before.matches('\n').count() + 1);
            format!("{name}:{line}")
        };
        let file: CatalogFile = toml::from_str(text).map_err(|error| CatalogError::Invalid {
            place: place(error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        })?;
        let mut assets: Vec<Asset> = Vec::with_capacity(file.assets.len());
        for asset in file.assets {
            let place = place(asset.span().start);
            let asset = asset.into_inner();
            if let Some(message) = asset.fault() {
                return Err(CatalogError::Invalid { place, message });
            }
            if assets.iter().any(|other| other.name == asset.name) {
                return Err(CatalogError::Invalid { place, message: format!("`{}` is there twice", asset.name) });
            }
            assets.push(asset);
        }
        Ok(Self { assets })
    }

    /// Every asset, in the order of the files.
    pub fn assets(&self) -> &[Asset] {
        &self.assets
    }

    /// The asset of this name.
    pub fn entry(&self, name: &str) -> Result<&Asset, CatalogError> {
        self.assets
            .iter()
            .find(|asset| asset.name == name)
            .ok_or_else(|| CatalogError::Unknown { name: name.to_owned(), suggestion: self.nearest(name) })
    }

    fn overlay(&mut self, user: Self) {
        for asset in user.assets {
            match self.assets.iter_mut().find(|known| known.name == asset.name) {
                Some(known) => *known = asset,
                None => self.assets.push(asset),
            }
        }
    }

    fn nearest(&self, name: &str) -> Option<String> {
        self.assets
            .iter()
            .map(|asset| (strsim::jaro_winkler(name, &asset.name), &asset.name))
            .filter(|(likeness, _)| *likeness >= 0.8)
            .max_by(|left, right| left.0.total_cmp(&right.0))
            .map(|(_, near)| near.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    const HASH: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";

    fn entry(name: &str, more: &str) -> String {
        format!(
            "[[asset]]\nname = \"{name}\"\nkind = \"language_model\"\ndescription = \"d\"\nlicence = \"MIT\"\nsize = 3\n\
             sha256 = \"{HASH}\"\nfile = \"a.gguf\"\n{more}\n[[asset.source]]\nfrom = \"pypi\"\n\
             packages = [{{ name = \"p\", version = \"1\", member = \"m\" }}]\n"
        )
    }

    #[test]
    fn the_embedded_catalogue_is_sound_and_each_asset_has_a_package_source() {
        let catalog = Catalog::load(None).unwrap();
        assert!(catalog.entry("smollm2-135m").is_ok());
        for asset in catalog.assets() {
            let packaged = asset.sources.iter().any(|source| !matches!(source, Source::Hf { .. } | Source::Url { .. }));
            assert!(packaged, "{} cannot be had without a model hub", asset.name);
        }
    }

    #[test]
    fn no_host_name_stands_in_the_embedded_catalogue() {
        assert!(!EMBEDDED.contains("://"));
    }

    #[test]
    fn a_near_name_is_suggested() {
        let error = Catalog::load(None).unwrap().entry("smollm2-135").unwrap_err();
        assert_eq!(error.to_string(), "no model `smollm2-135` in the catalogue");
        assert_eq!(error.hint(), "did you mean `smollm2-135m`?");
        let error = Catalog::load(None).unwrap().entry("zzz").unwrap_err();
        assert_eq!(error.hint(), "`tenpass models list` shows what there is");
    }

    #[test]
    fn an_entry_without_a_pinned_hash_is_refused_with_its_line() {
        let text = format!("{}\n{}", entry("a", ""), entry("b", "").replace(HASH, "unpinned"));
        let error = Catalog::parse("models.toml", &text).unwrap_err();
        let line = 1 + entry("a", "").lines().count() + 1;
        assert!(error.to_string().starts_with(&format!("models.toml:{line}: b: sha256 must be")), "{error}");
        let missing = entry("a", "").replace(&format!("sha256 = \"{HASH}\"\n"), "");
        assert!(Catalog::parse("models.toml", &missing).unwrap_err().to_string().contains("sha256"));
    }

    #[test]
    fn unknown_keys_duplicates_and_odd_names_are_errors() {
        for (text, part) in [
            (entry("a", "colour = 3"), "unknown field `colour`"),
            (format!("{}{}", entry("a", ""), entry("a", "")), "`a` is there twice"),
            (entry("../a", ""), "is no name"),
            (entry("a", "").replace("\"a.gguf\"", "\"../a.gguf\""), "relative path"),
            (entry("a", "").replace("\"p\"", "\"--index-url=x\""), "single words"),
            (entry("a", "").replace(", member = \"m\"", ""), "`member` is needed"),
            (entry("a", "").replace("size = 3", "size = 0"), "size must be"),
        ] {
            let error = Catalog::parse("models.toml", &text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn the_users_entries_add_and_replace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("models.toml");
        assert_eq!(Catalog::load(Some(&path)).unwrap(), Catalog::load(None).unwrap());
        std::fs::write(&path, format!("{}{}", entry("mine", ""), entry("smollm2-135m", ""))).unwrap();
        let catalog = Catalog::load(Some(&path)).unwrap();
        assert_eq!(catalog.entry("mine").unwrap().size, 3);
        assert_eq!(catalog.entry("smollm2-135m").unwrap().size, 3);
        std::fs::write(&path, "[[asset]\n").unwrap();
        assert!(Catalog::load(Some(&path)).unwrap_err().to_string().contains("models.toml:1:"));
    }
}
