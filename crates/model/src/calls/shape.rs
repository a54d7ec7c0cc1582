//! The names of the ways in which a call can be written down.

use serde::{Deserialize, Serialize};

macro_rules! shapes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)*) => {
        /// How a call was written. The stored and printed names are the ones in [`Shape::as_str`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Shape {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Shape {
            /// Every shape, in the order of the design's list.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stored and printed name.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

shapes! {
    /// The backend's structured channel; not text at all.
    Structured = "structured";
    /// The object that the constrained decoder enforces; the name `answer` means text.
    Constrained = "constrained";
    /// `<tool_call>{"name":…,"arguments":{…}}</tool_call>` and other tags around the same object.
    Hermes = "hermes";
    /// A bare `{"name":…,"parameters":{…}}` (or `arguments`), alone or in a list.
    JsonObject = "json_object";
    /// `<|python_tag|>lamp.call(on=True)`.
    PythonTag = "python_tag";
    /// `[TOOL_CALLS][{"name":…,"arguments":{…}}]`.
    MistralList = "mistral_list";
    /// `[TOOL_CALLS]lamp[ARGS]{…}`.
    MistralArgs = "mistral_args";
    /// `<function=lamp>{…}</function>`.
    FunctionTag = "function_tag";
    /// `>>>lamp\n{…}`.
    Functionary = "functionary";
    /// ` functools[{"name":…,"arguments":{…}}]`.
    Functools = "functools";
    /// DeepSeek R1: begin, `function`, separator, name, a json fence, end.
    DeepseekR1 = "deepseek_r1";
    /// DeepSeek V3.1: begin, name, separator, arguments, end.
    DeepseekV3 = "deepseek_v3";
    /// `<|tool_call>call:lamp{room:<|"|>attic<|"|>}<tool_call|>`.
    Gemma4 = "gemma4";
    /// `<start_function_call>call:lamp{room:<escape>attic<escape>}<end_function_call>`.
    FunctionGemma = "function_gemma";
    /// `<tool_call><function=lamp><parameter=room>attic</parameter></function></tool_call>`.
    Qwen3Coder = "qwen3_coder";
    /// `<tool_call>lamp\n<arg_key>room</arg_key><arg_value>attic</arg_value></tool_call>`.
    Glm = "glm";
    /// `<invoke name="lamp"><parameter name="room">attic</parameter></invoke>`.
    Invoke = "invoke";
    /// `<seed:tool_call>` around the body of `qwen3_coder`.
    Seed = "seed";
    /// `<|tool_call_begin|>functions.lamp:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`.
    Kimi = "kimi";
    /// `<|channel|>commentary to=functions.lamp <|constrain|>json<|message|>{…}<|call|>`.
    Harmony = "harmony";
    /// `<|START_ACTION|>[{"tool_name":…,"parameters":{…}}]<|END_ACTION|>`.
    CommandR = "command_r";
    /// `<|tool_call_start|>[lamp(room="attic")]<|tool_call_end|>`.
    Lfm2 = "lfm2";
    /// `<function_calls>lamp(room="attic")\nlamp(room="hall")</function_calls>`.
    Olmo = "olmo";
    /// `[lamp(room="attic"), lamp(room="hall")]`.
    Pythonic = "pythonic";
    /// `<|tool_call|>[{"name":…,"arguments":{…}}]`.
    Granite = "granite";
    /// `<TOOLCALL>[…]</TOOLCALL>`.
    Nemotron = "nemotron";
    /// A json, tool_code or homeassistant fence.
    Fence = "fence";
    /// One call a line, in function syntax with named arguments.
    Line = "line";
    /// `{"tool":"lamp","args":{}}`, `{"function":{"name":"lamp"}}`, `{"lamp":{…}}`.
    ToolObject = "tool_object";
    /// An echo of the wire format: `{"tool_calls":[{"function":{…}}]}`.
    OpenaiEcho = "openai_echo";
    /// `Action: lamp\nAction Input: {…}`.
    React = "react";
    /// `Using tool: lamp\n{…}`.
    UsingTool = "using_tool";
    /// `lamp({…})`.
    FunctionCall = "function_call";
}

/// What in a chat template's source tells the shape, most telling first.
const TEMPLATE_SIGNS: &[(&str, Shape)] = &[
    ("<seed:tool_call>", Shape::Seed),
    ("<|tool_call_argument_begin|>", Shape::Kimi),
    ("<start_function_call>", Shape::FunctionGemma),
    ("<|tool_call>", Shape::Gemma4),
    ("<arg_key>", Shape::Glm),
    ("<function=example_function_name>", Shape::Qwen3Coder),
    ("<parameter=", Shape::Qwen3Coder),
    ("invoke name=", Shape::Invoke),
    ("<|START_ACTION|>", Shape::CommandR),
    ("<|tool_call_start|>", Shape::Lfm2),
    ("<TOOLCALL>", Shape::Nemotron),
    ("[ARGS]", Shape::MistralArgs),
    ("[TOOL_CALLS]", Shape::MistralList),
    ("<|constrain|>", Shape::Harmony),
    ("to=functions.", Shape::Harmony),
    (">>>", Shape::Functionary),
    ("functools[", Shape::Functools),
    ("<|tool_call|>", Shape::Granite),
    ("<function_calls>", Shape::Olmo),
    ("<tool_call>", Shape::Hermes),
    ("<function=", Shape::FunctionTag),
    ("\"parameters\": dictionary of argument name", Shape::JsonObject),
    ("<|python_tag|>", Shape::JsonObject),
];

impl Shape {
    /// The shape that the source of a chat template asks for, by its markers.
    ///
    /// `None` when the template says nothing about calls, or nothing that is known here.
    pub fn of_template(source: &str) -> Option<Self> {
        let deepseek = source.contains("tool▁call▁begin") || source.contains("tool_call_begin");
        if deepseek && !source.contains("tool_call_argument_begin") {
            let fenced = source.contains("```json");
            return Some(if fenced { Self::DeepseekR1 } else { Self::DeepseekV3 });
        }
        TEMPLATE_SIGNS.iter().find(|(sign, _)| source.contains(sign)).map(|&(_, shape)| shape)
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A shape name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown call shape '{0}'")]
pub struct ShapeError(pub String);

impl ShapeError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        let names: Vec<_> = Shape::ALL.iter().map(|shape| shape.as_str()).collect();
        format!("one of: {}", names.join(", "))
    }
}

impl std::str::FromStr for Shape {
    type Err = ShapeError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|shape| shape.as_str() == name)
            .ok_or_else(|| ShapeError(name.chars().take(64).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        for shape in Shape::ALL {
            assert_eq!(shape.as_str().parse::<Shape>().unwrap(), *shape);
            assert_eq!(serde_json::to_string(shape).unwrap(), format!("\"{shape}\""));
        }
        let error = "hermez".parse::<Shape>().unwrap_err();
        assert!(error.to_string().contains("hermez") && error.hint().contains("hermes"));
    }

    #[test]
    fn a_template_tells_its_shape() {
        let shape = Shape::of_template;
        assert_eq!(shape("{%- for m in messages %}<|im_start|>{{ m.role }}"), None);
        assert_eq!(shape("return a json object within <tool_call></tool_call> XML tags"), Some(Shape::Hermes));
        assert_eq!(shape("<tool_call>\n<function=x>\n<parameter=a>"), Some(Shape::Qwen3Coder));
        assert_eq!(shape("<｜tool▁call▁begin｜>function<｜tool▁sep｜>x\n```json"), Some(Shape::DeepseekR1));
        assert_eq!(shape("<|tool_call_begin|>x<|tool_call_argument_begin|>"), Some(Shape::Kimi));
        assert_eq!(shape("<tool_call>{{ name }}<arg_key>"), Some(Shape::Glm));
    }
}
