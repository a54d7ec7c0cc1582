//! Whether two endpoints serve the same model.

use crate::ModelInfo;

/// Everything that differs: `what: A there, B here`. What one of the two does not tell cannot
/// differ. Addresses may, of course.
pub(super) fn differences(there: &ModelInfo, here: &ModelInfo) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |what: &str, there: Option<String>, here: Option<String>| {
        if let (Some(there), Some(here)) = (there, here)
            && there != here
        {
            found.push(format!("{what}: {there} there, {here} here"));
        }
    };
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    compare("name", Some(there.name.clone()), Some(here.name.clone()));
    compare("weights", there.digest.clone(), here.digest.clone());
    compare("template", there.template_digest.clone(), here.template_digest.clone());
    compare("quantization", there.quantization.clone(), here.quantization.clone());
    compare("context", number(there.context), number(here.context));
    compare("runtime", there.runtime.clone(), here.runtime.clone());
    let (theirs, ours) = (&there.capabilities, &here.capabilities);
    for (what, there, here) in [
        ("tools", theirs.tools, ours.tools),
        ("thinking", theirs.thinking, ours.thinking),
        ("structured output", theirs.structured_output, ours.structured_output),
    ] {
        compare(what, Some(there.to_string()), Some(here.to_string()));
    }
    compare("shape of calls", theirs.declared_shape.clone(), ours.declared_shape.clone());
    found
}

/// `info` with what only `other` tells.
pub(super) fn known(info: ModelInfo, other: &ModelInfo) -> ModelInfo {
    ModelInfo {
        digest: info.digest.or_else(|| other.digest.clone()),
        template_digest: info.template_digest.or_else(|| other.template_digest.clone()),
        quantization: info.quantization.or_else(|| other.quantization.clone()),
        context: info.context.or(other.context),
        runtime: info.runtime.or_else(|| other.runtime.clone()),
        ..info
    }
}
