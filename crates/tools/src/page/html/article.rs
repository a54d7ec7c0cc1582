//! The main text of a page, or all of its text when it has no article.

use dom_smoothie::{Config, Readability, TextMode};
use url::Url;

use super::tame::tame;

/// An article shorter than this is compared with the whole page, in characters.
const SHORT_ARTICLE: usize = 600;
/// A page is a list of links when they hold more than this share of its text, in percent.
const LINK_PERCENT: usize = 40;
/// Most links that are listed of a page without an article.
const MAX_LINKS: usize = 20;
/// Most links that are looked at.
const MAX_SCANNED_LINKS: usize = 2_000;

/// What a person would read on a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Readable {
    /// The title, or empty.
    pub(crate) title: String,
    /// The author line, when the page declares one.
    pub(crate) byline: Option<String>,
    /// The text, without markup.
    pub(crate) text: String,
    /// `label: address` of the page's links, only when it has no article: such a page is a way to
    /// other pages. They are text, nothing follows them.
    pub(crate) links: Vec<String>,
}

/// Reads a document that was fetched from `url`. Takes time linear in its size, up to the caps of
/// [`tame`]; call it off the event loop.
pub(crate) fn read(html: &str, url: &Url) -> Readable {
    let tamed = tame(html);
    let config = Config {
        disable_json_ld: true,
        text_mode: TextMode::Formatted,
        max_elements_to_parse: 20_000,
        ..Config::default()
    };
    let Ok(mut page) = Readability::new(tamed, Some(url.as_str()), Some(config)) else { return Readable::default() };
    let whole = page.doc.body().map(|body| tidy(&body.formatted_text())).unwrap_or_default();
    let title = one_line(&page.get_article_title(), 200);
    let (links, linked) = links(&page, url);
    let is_list = linked * 100 > whole.chars().count() * LINK_PERCENT;
    let Some(article) = page.parse().ok().filter(|_| !is_list) else {
        return Readable { title, byline: None, text: whole, links };
    };
    let text = tidy(&article.text_content);
    let byline = article.byline.map(|byline| one_line(&byline, 100)).filter(|byline| !byline.is_empty());
    let title = if title.is_empty() { one_line(&article.title, 200) } else { title };
    let length = text.chars().count();
    if length < SHORT_ARTICLE && whole.chars().count() > 2 * length {
        return Readable { title, byline, text: whole, links };
    }
    Readable { title, byline, text, links: Vec::new() }
}

/// The first links of the page, and how many characters of its text are links.
fn links(page: &Readability, url: &Url) -> (Vec<String>, usize) {
    let mut found: Vec<String> = Vec::new();
    let mut linked = 0;
    for link in page.doc.select("a[href]").iter().take(MAX_SCANNED_LINKS) {
        let label = one_line(&link.text(), 80);
        linked += label.chars().count();
        if found.len() == MAX_LINKS || label.is_empty() {
            continue;
        }
        let Some(target) = link.attr("href").and_then(|href| url.join(&href).ok()) else { continue };
        let same_page = target.fragment().is_some() && target.as_str().split('#').next() == Some(url.as_str());
        let line = format!("{label}: {target}");
        if !same_page && matches!(target.scheme(), "http" | "https") && !found.contains(&line) {
            found.push(line);
        }
    }
    (found, linked)
}

fn one_line(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(limit).collect()
}

/// Lines without trailing blanks, at most one empty line in a row.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines().map(str::trim_end) {
        if line.trim().is_empty() {
            empty += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if empty > 0 { "\n\n" } else { "\n" });
        }
        empty = 0;
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url() -> Url {
        Url::parse("https://site.example/a/page").unwrap()
    }

    fn paragraphs(words: &str, number: usize) -> String {
        (0..number).map(|n| ["<p>", &n.to_string(), " ", &words.repeat(12), "</p>"].concat()).collect()
    }

    #[test]
    fn an_article_is_told_from_its_surroundings() {
        let html = format!(
            "<html><head><title>The river rose | The Gazette</title><meta name=author content='Ada Byron'></head>
             <body><nav><ul><li><a href=/home>Home</a><li><a href=/sport>Sport</a></ul></nav>
             <article><h1>The river rose</h1>{}</article><footer>Subscribe now</footer></body></html>",
            paragraphs("The water came up to the old bridge, then stopped. ", 4)
        );
        let page = read(&html, &url());
        assert!(page.title.contains("The river rose"), "{page:?}");
        assert_eq!(page.byline.as_deref(), Some("Ada Byron"));
        assert!(page.text.contains("old bridge") && page.text.contains("3 The water"), "{page:?}");
        assert!(!page.text.contains("Subscribe now") && !page.text.contains("Sport"), "{page:?}");
        assert!(page.links.is_empty());
    }

    #[test]
    fn a_page_without_an_article_is_all_text_and_links() {
        let html = "<title>Index</title><ul><li><a href='b?x=1'>Bread</a> 2 €<li><a href='/c#top'>Cake</a>
                    <li><a href='javascript:alert(1)'>Evil</a><li><a href='#here'>Here</a></ul><p>caf&eacute; &lt;open&gt;";
        let page = read(html, &url());
        assert_eq!(page.title, "Index");
        assert!(
            page.text.contains("Bread") && page.text.contains("2 €") && page.text.contains("café <open>"),
            "{page:?}"
        );
        assert_eq!(page.links, ["Bread: https://site.example/a/b?x=1", "Cake: https://site.example/c#top"]);
    }

    #[test]
    fn documents_made_to_hurt_are_read_in_time() {
        let megabyte = 1 << 20;
        let bombs = [
            "<div>".repeat(megabyte / 5),
            "<b x=1><p>".repeat(megabyte / 10),
            format!("<p {}>", "a ".repeat(megabyte / 2)),
            "<table>x<tr>x<td>".repeat(megabyte / 17),
            "<a href=x><table><td>".repeat(megabyte / 21),
            "<".repeat(megabyte),
            "</".repeat(megabyte / 2),
            "<!--".repeat(megabyte / 4),
            "&amp".repeat(megabyte / 4),
            "<title>".repeat(megabyte / 7),
            "<li>x".repeat(megabyte / 5),
            "<p>x</div>".repeat(megabyte / 10),
            format!("{}{}", "<div>".repeat(99), "<p>x<span>".repeat(megabyte / 12)),
        ];
        for bomb in bombs {
            let start = bomb[..bomb.floor_char_boundary(20)].to_owned();
            let before = std::time::Instant::now();
            read(&bomb, &url());
            // Quadratic work on a megabyte takes minutes.
            assert!(before.elapsed().as_secs() < 20, "{start}");
        }
    }

    proptest! {
        #[test]
        fn any_document_is_read(html in "(<(/)?(a href=x|div|p|table|tr|td|li|ul|h1|article|svg|title|span|meta)( hidden)?>|word |&amp;|&#0;|<|\n){0,80}") {
            let page = read(&html, &url());
            // A word can be shown as text, as title and as the label of a link, and no oftener.
            let shown = page.title.matches("word").count() + page.text.matches("word").count();
            prop_assert!(shown <= 2 * html.matches("word").count(), "{:?}", page);
            prop_assert!(page.links.len() <= MAX_LINKS);
        }
    }

    #[test]
    fn nothing_is_something() {
        assert_eq!(read("", &url()), Readable::default());
        assert_eq!(read("just text", &url()).text, "just text");
        assert_eq!(tidy(" a \n\n\n\nb\n c\n"), " a\n\nb\n c");
    }
}
