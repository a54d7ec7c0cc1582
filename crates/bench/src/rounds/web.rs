//! The web of a world: its pages behind the real `read_url`, its results behind the real
//! `web_search`. The checks of addresses are the tools' own and come first.

use std::collections::BTreeMap;

use tenpass_model::BoxFuture;
use tenpass_tools::page::{Fetched, PageError, PageSource};
use tenpass_tools::web::{Hit, SearchError, SearchProvider};
use url::Url;

use super::scenario::{Page, Search};

/// The pages that can be reached.
pub(super) struct WorldPages {
    pages: BTreeMap<String, Page>,
    hosts: Vec<String>,
}

impl WorldPages {
    pub(super) fn new(pages: &BTreeMap<String, Page>) -> Self {
        let parsed = pages.iter().filter_map(|(address, page)| Some((Url::parse(address).ok()?, page)));
        let (mut known, mut hosts) = (BTreeMap::new(), Vec::new());
        for (url, page) in parsed {
            hosts.extend(url.host_str().map(str::to_owned));
            known.insert(place(&url), page.clone());
        }
        Self { pages: known, hosts }
    }
}

/// What makes two addresses one page: scheme, fragment and a closing slash do not count.
fn place(url: &Url) -> String {
    let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
    let host = url.host_str().unwrap_or_default();
    format!("{}{}{query}", host.strip_prefix("www.").unwrap_or(host), url.path().trim_end_matches('/'))
}

impl PageSource for WorldPages {
    fn fetch<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Fetched, PageError>> {
        let host = url.host_str().unwrap_or_default();
        let found = match self.pages.get(&place(url)) {
            Some(page) => Ok(Fetched {
                url: url.clone(),
                content_type: Some("text/html; charset=utf-8".to_owned()),
                body: html(page).into_bytes(),
                is_cut: false,
            }),
            None if self.hosts.iter().any(|known| known == host) => Err(PageError::Status { status: 404 }),
            None => Err(PageError::Unknown { host: host.to_owned() }),
        };
        Box::pin(async move { found })
    }
}

/// The page as its server would send it.
fn html(page: &Page) -> String {
    let paragraphs: Vec<String> =
        page.text.split("\n\n").map(|text| format!("<p>{}</p>\n", escaped(text).replace('\n', "<br>"))).collect();
    let paragraphs = paragraphs.concat();
    let title = escaped(&page.title);
    format!(
        "<!doctype html><html><head><meta charset=\"utf-8\"><title>{title}</title></head>\
         <body><article><h1>{title}</h1>\n{paragraphs}</article></body></html>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The results that can be found.
pub(super) struct WorldSearch {
    pub(super) searches: Vec<Search>,
}

impl SearchProvider for WorldSearch {
    fn scope(&self) -> String {
        "the web".to_owned()
    }

    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<Hit>, SearchError>> {
        let found = self.searches.iter().find(|search| search.matches.is_match(query));
        let hits = found.into_iter().flat_map(|search| &search.hits).take(limit);
        let hits = hits
            .map(|hit| Hit { title: hit.title.clone(), url: hit.url.clone(), snippet: hit.snippet.clone() })
            .collect();
        Box::pin(async move { Ok(hits) })
    }
}
