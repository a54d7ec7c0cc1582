//! A small interpreter of ONNX graphs: the operators that wake-word heads are made of, on one thread.
//!
//! A graph is compiled when it is loaded: names become places, constants are shared, and every operator
//! is looked up, so that one that is missing is named then and not in the middle of a stream.

mod lstm;
mod math;
mod operators;
mod product;
mod shape;
#[cfg(test)]
mod tests;
mod value;

use std::collections::HashMap;

use crate::net::Simd;
use crate::onnx::{Attribute, Graph, Node};
use operators::{Call, Operator};
use value::Value;

/// How deep branches are followed.
const MOST_DEPTH: usize = 8;

/// A compiled graph.
#[derive(Debug)]
pub(crate) struct Program {
    simd: Simd,
    slots: usize,
    constants: Vec<(usize, Value)>,
    body: Body,
    input: usize,
}

#[derive(Debug)]
struct Body {
    steps: Vec<Step>,
    outputs: Vec<usize>,
}

#[derive(Debug)]
struct Step {
    name: String,
    kind: Kind,
    inputs: Vec<Option<usize>>,
    outputs: Vec<Option<usize>>,
}

#[derive(Debug)]
enum Kind {
    Operator(Operator, Node),
    If(Box<Body>, Box<Body>),
}

/// Which branches are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Branches {
    /// The one that the condition chooses.
    Chosen,
    /// Both, to find what cannot be run: the chosen one's values count.
    Both,
}

impl Program {
    /// Compiles a graph with one input.
    pub(crate) fn compile(graph: &Graph) -> Result<Self, String> {
        let mut compiling = Compiling { slots: 0, constants: Vec::new() };
        let mut names = HashMap::new();
        let inputs: Vec<_> = graph.free_inputs().collect();
        let [input] = inputs.as_slice() else { return Err(format!("it has {} inputs, one is needed", inputs.len())) };
        let input = compiling.name(&mut names, &input.name);
        let body = compiling.body(graph, &names, 0)?;
        Ok(Self { simd: Simd::best(), slots: compiling.slots, constants: compiling.constants, body, input })
    }

    /// Runs it on floats of this shape and returns the first output: shape and numbers.
    pub(crate) fn run(
        &self,
        shape: &[usize],
        input: &[f32],
        branches: Branches,
    ) -> Result<(Vec<usize>, Vec<f32>), String> {
        let mut values: Vec<Option<Value>> = vec![None; self.slots];
        for (slot, value) in &self.constants {
            values[*slot] = Some(value.clone());
        }
        values[self.input] = Some(Value::floats(shape.to_vec(), input.to_vec()));
        self.body(&self.body, &mut values, branches)?;
        let output = self.body.outputs.first().ok_or("it has no output")?;
        let output = values[*output].as_ref().ok_or("its output is never computed")?;
        Ok((output.shape.clone(), output.as_floats()?.to_vec()))
    }

    fn body(&self, body: &Body, values: &mut [Option<Value>], branches: Branches) -> Result<(), String> {
        for step in &body.steps {
            self.step(step, values, branches).map_err(|problem| format!("{}: {problem}", step.name))?;
        }
        Ok(())
    }

    fn step(&self, step: &Step, values: &mut [Option<Value>], branches: Branches) -> Result<(), String> {
        let found = match &step.kind {
            Kind::Operator(operator, node) => {
                let inputs = step.inputs.iter().map(|slot| slot.and_then(|slot| values[slot].as_ref())).collect();
                operator(&Call { node, inputs, simd: self.simd })?
            }
            Kind::If(then, otherwise) => self.choose(step, then, otherwise, values, branches)?,
        };
        for (slot, value) in step.outputs.iter().zip(found) {
            if let Some(slot) = slot {
                values[*slot] = Some(value);
            }
        }
        Ok(())
    }

    fn choose(
        &self,
        step: &Step,
        then: &Body,
        otherwise: &Body,
        values: &mut [Option<Value>],
        branches: Branches,
    ) -> Result<Vec<Value>, String> {
        let condition = step.inputs.first().copied().flatten().and_then(|slot| values[slot].as_ref());
        let yes = match condition.ok_or("it has no condition")?.as_integers()? {
            [condition] => *condition != 0,
            other => return Err(format!("a condition of {} numbers", other.len())),
        };
        let (chosen, other) = if yes { (then, otherwise) } else { (otherwise, then) };
        if branches == Branches::Both {
            self.body(other, values, branches)?;
        }
        self.body(chosen, values, branches)?;
        let output = |slot: &usize| values[*slot].clone().ok_or_else(|| "a branch leaves no value".to_owned());
        chosen.outputs.iter().map(output).collect()
    }
}

struct Compiling {
    slots: usize,
    constants: Vec<(usize, Value)>,
}

impl Compiling {
    fn name(&mut self, names: &mut HashMap<String, usize>, name: &str) -> usize {
        let slot = self.slots;
        self.slots += 1;
        names.insert(name.to_owned(), slot);
        slot
    }

    /// Compiles a graph that sees the names around it.
    fn body(&mut self, graph: &Graph, around: &HashMap<String, usize>, depth: usize) -> Result<Body, String> {
        if depth > MOST_DEPTH {
            return Err(format!("branches stand more than {MOST_DEPTH} deep"));
        }
        let mut names = around.clone();
        for tensor in &graph.initializers {
            let slot = self.name(&mut names, &tensor.name);
            self.constants.push((slot, Value::of(tensor)));
        }
        let mut steps = Vec::new();
        for (place, node) in graph.nodes.iter().enumerate() {
            let name = format!("node {place} ({})", node.op);
            self.node(node, &name, &mut names, depth, &mut steps).map_err(|problem| format!("{name}: {problem}"))?;
        }
        let output = |port: &crate::onnx::Port| {
            names.get(&port.name).copied().ok_or_else(|| format!("output \"{}\" is never computed", port.name))
        };
        Ok(Body { steps, outputs: graph.outputs.iter().map(output).collect::<Result<_, _>>()? })
    }

    fn node(
        &mut self,
        node: &Node,
        name: &str,
        names: &mut HashMap<String, usize>,
        depth: usize,
        steps: &mut Vec<Step>,
    ) -> Result<(), String> {
        if !matches!(node.domain.as_str(), "" | "ai.onnx") {
            return Err(format!("operators of \"{}\" are not supported", node.domain));
        }
        if node.op == "Constant" {
            let Some(Attribute::Tensor(tensor)) = node.attribute("value") else {
                return Err("a constant without a tensor".to_owned());
            };
            let output = node.outputs.first().ok_or("a constant without an output")?;
            let slot = self.name(names, output);
            self.constants.push((slot, Value::of(tensor)));
            return Ok(());
        }
        let slot = |input: &String| match input.as_str() {
            "" => Ok(None),
            input => names.get(input).map(|slot| Some(*slot)).ok_or_else(|| format!("\"{input}\" is not computed yet")),
        };
        let inputs = node.inputs.iter().map(slot).collect::<Result<Vec<_>, String>>()?;
        let kind = if node.op == "If" {
            let branch = |name| match node.attribute(name) {
                Some(Attribute::Graph(graph)) => Ok(graph),
                _ => Err(format!("it has no {name}")),
            };
            let (then, otherwise) = (branch("then_branch")?, branch("else_branch")?);
            if then.outputs.len() != otherwise.outputs.len() {
                return Err("its branches have different outputs".to_owned());
            }
            let then = self.body(then, names, depth + 1)?;
            Kind::If(Box::new(then), Box::new(self.body(otherwise, names, depth + 1)?))
        } else {
            let operator = operators::find(&node.op).ok_or("this operator is not supported")?;
            Kind::Operator(operator, node.clone())
        };
        let outputs =
            node.outputs.iter().map(|output| (!output.is_empty()).then(|| self.name(names, output))).collect();
        steps.push(Step { name: name.to_owned(), kind, inputs, outputs });
        Ok(())
    }
}
