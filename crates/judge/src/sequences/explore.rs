//! Which call comes next: what is made is read, listed, searched, changed and deleted; what fails, repeats or only reads
//! is surrounded by calls that look at the state.

use std::collections::VecDeque;
use std::iter;

use serde_json::{Value, json};

use super::arguments::{Context, Inputs, KeyChoice, Made, Surroundings, telling_text};
use super::judgement::Judge;
use super::key::named_key;
use super::model::SequenceModel;
use super::role::Role;
use super::step::{Bind, Step, StepTarget};
use super::world::{Life, next_cursor};
use crate::generate::Dice;

/// The most things of a kind that are read to look at the state.
const LOOKED_AT: usize = 3;

/// The number of calls that one server gets.
const LIVES: &[usize] = &[20, 50, 100, 200];

/// Chooses the calls of a run.
#[derive(Debug)]
pub struct Explorer<'m> {
    model: &'m SequenceModel,
    inputs: Vec<Inputs>,
    dice: Dice,
    queue: VecDeque<Intent>,
    /// Numbers of steps and of keys that never existed.
    next_id: u32,
    missing: u64,
    /// Calls of this server, and how many it gets.
    calls: usize,
    life: usize,
    lives: u64,
    restarts: bool,
}

/// Something to do.
#[derive(Clone, Debug)]
enum Intent {
    Act(usize, KeyChoice),
    Spoilt(usize),
    Read(usize, usize, String),
    List(usize, Value, Vec<Bind>),
    NextPage(usize, Value),
    Search(usize, String),
    Resources,
    Restart,
    /// Looks at what the last call touched.
    Check,
    /// Looks at everything.
    Look,
    /// Repeats the last call that wrote.
    Repeat,
    Pages(usize),
}

impl<'m> Explorer<'m> {
    /// The calls that a seed chooses; with `restarts`, servers are started again on their data.
    pub fn new(model: &'m SequenceModel, seed: u64, around: &Surroundings, restarts: bool) -> Self {
        let inputs = model.tools.iter().enumerate().map(|(at, tool)| Inputs::new(tool, at, seed, around)).collect();
        Self {
            model,
            inputs,
            dice: Dice::for_purpose(seed, "sequences"),
            queue: VecDeque::new(),
            next_id: 0,
            missing: 0,
            calls: 0,
            life: LIVES[0],
            lives: 0,
            restarts,
        }
    }

    /// Begins with a fresh server.
    pub fn begin(&mut self) {
        self.queue.clear();
        self.dice = self.dice.turned(self.lives);
        self.lives += 1;
        self.calls = 0;
        self.life = *self.dice.pick(LIVES).unwrap_or(&LIVES[0]);
        self.queue.push_back(Intent::Look);
    }

    /// The number of calls that this server gets.
    pub fn calls_of_life(&self) -> usize {
        self.life
    }

    /// True if this server got enough calls.
    pub fn is_life_over(&self) -> bool {
        self.calls >= self.life
    }

    /// The next call; none if there is nothing to call.
    pub fn next(&mut self, judge: &Judge<'_>) -> Option<Step> {
        // Each turn of this loop takes something off the queue or fills it.
        for _ in 0..200 {
            let Some(intent) = self.queue.pop_front() else {
                self.plan(judge);
                continue;
            };
            if let Some((target, (args, binds))) = self.step(intent, judge) {
                let id = self.next_id;
                self.next_id += 1;
                self.calls += 1;
                return Some(Step { id, target, args, binds });
            }
        }
        None
    }

    /// Fills the queue with something worth doing.
    fn plan(&mut self, judge: &Judge<'_>) {
        let model = self.model;
        let usable: Vec<usize> = (0..model.tools.len()).filter(|at| !self.inputs[*at].is_empty()).collect();
        let writing: Vec<usize> = usable.iter().copied().filter(|at| model.tools[*at].writes()).collect();
        let roll = self.dice.below(100);
        if writing.is_empty() {
            let Some(at) = self.dice.pick(&usable).copied() else { return };
            // What only reads is called between two looks at the state, now and then.
            if roll < 10 {
                self.queue.extend([Intent::Look, Intent::Act(at, KeyChoice::Any), Intent::Look]);
            } else {
                self.queue.push_back(Intent::Act(at, KeyChoice::Any));
            }
            return;
        }
        match roll {
            0..45 => {
                let Some(at) = self.pick_writing(&writing, judge) else { return };
                let choice = self.key_for(at, judge);
                // Caches are filled by looks before a change.
                if self.dice.chance(25) {
                    self.queue.push_back(Intent::Look);
                }
                // A second change of the same thing follows the first, now and then.
                let is_change = matches!(choice, KeyChoice::Thing(..))
                    && matches!(model.tools[at].role, Role::Update | Role::Set | Role::Write);
                let again = (is_change && self.dice.chance(30)).then(|| Intent::Act(at, choice.clone()));
                for change in iter::once(Intent::Act(at, choice)).chain(again) {
                    self.queue.push_back(change);
                    if self.dice.chance(80) {
                        self.queue.push_back(Intent::Check);
                    }
                }
            }
            45..57 => {
                let Some(at) = self.dice.pick(&writing).copied() else { return };
                let bad = if model.tools[at].key.is_some() && self.dice.chance(40) {
                    let number = self.missing_number();
                    Intent::Act(at, KeyChoice::Missing(number))
                } else {
                    Intent::Spoilt(at)
                };
                self.queue.extend([Intent::Look, bad, Intent::Look]);
            }
            57..65 => {
                let Some(at) = self.pick_writing(&writing, judge) else { return };
                let choice = self.key_for(at, judge);
                self.queue.extend([Intent::Act(at, choice), Intent::Look, Intent::Repeat, Intent::Look]);
            }
            65..75 => {
                let reading: Vec<usize> = usable.iter().copied().filter(|at| !model.tools[*at].writes()).collect();
                let Some(at) = self.dice.pick(&reading).copied() else { return };
                let choice = self.key_for(at, judge);
                self.queue.extend([Intent::Look, Intent::Act(at, choice), Intent::Look]);
            }
            75..85 => {
                let paged: Vec<usize> =
                    usable.iter().copied().filter(|at| model.tools[*at].role == Role::List).collect();
                let Some(at) = self.dice.pick(&paged).copied() else { return };
                self.queue.extend([Intent::List(at, json!({}), Vec::new()), Intent::Pages(at)]);
            }
            85..93 => self.queue.push_back(Intent::Look),
            93..96 if self.restarts => self.queue.extend([Intent::Look, Intent::Restart, Intent::Look]),
            _ => {
                let keyed: Vec<usize> = usable.iter().copied().filter(|at| model.tools[*at].key.is_some()).collect();
                if let Some(at) = self.dice.pick(&keyed).copied() {
                    let number = self.missing_number();
                    self.queue.push_back(Intent::Act(at, KeyChoice::Missing(number)));
                }
            }
        }
    }

    fn missing_number(&mut self) -> u64 {
        self.missing += 1;
        self.missing
    }

    /// A tool that writes: one that makes things as long as there are few.
    fn pick_writing(&mut self, writing: &[usize], judge: &Judge<'_>) -> Option<usize> {
        let at = *self.dice.pick(writing)?;
        let tool = &self.model.tools[at];
        let family = self.model.family_of(at);
        let live = judge.world.live(family).count();
        if matches!(tool.role, Role::Update | Role::Delete) && (live == 0 || live < 3 && self.dice.chance(30)) {
            let making: Vec<usize> =
                self.model.with_role(family, &[Role::Create, Role::Set]).filter(|at| writing.contains(at)).collect();
            return self.dice.pick(&making).copied().or(Some(at));
        }
        Some(at)
    }

    /// The key that a call of a tool names.
    fn key_for(&mut self, at: usize, judge: &Judge<'_>) -> KeyChoice {
        let tool = &self.model.tools[at];
        if tool.key.is_none() {
            return KeyChoice::Any;
        }
        let family = self.model.family_of(at);
        let percent = if matches!(tool.role, Role::Create | Role::Set) { 40 } else { 95 };
        let life = if self.dice.chance(80) { Life::Live } else { Life::Deleted };
        let things: Vec<String> = judge.world.in_state(family, life).map(|(key, _)| key.clone()).collect();
        match self.dice.pick(&things).filter(|_| true) {
            Some(key) if self.dice.chance(percent) => KeyChoice::Thing(family, key.clone()),
            Some(_) | None if matches!(tool.role, Role::Create | Role::Set | Role::Write | Role::Look) => {
                KeyChoice::Any
            }
            Some(_) | None => {
                // Some keys are known without being made: settings, names of the author's.
                if self.dice.chance(50) { KeyChoice::Any } else { KeyChoice::Missing(self.missing_number()) }
            }
        }
    }

    fn step(&mut self, intent: Intent, judge: &Judge<'_>) -> Option<(StepTarget, Made)> {
        match intent {
            Intent::Act(at, choice) => self.made(at, &choice, judge).map(|made| (StepTarget::Tool(at), made)),
            Intent::Spoilt(at) => {
                let choice = self.key_for(at, judge);
                let made = self.made(at, &choice, judge)?;
                let spoilt = Inputs::spoilt(&self.model.tools[at], made, &mut self.dice)?;
                Some((StepTarget::Tool(at), spoilt))
            }
            Intent::Read(at, family, key) => {
                let choice = KeyChoice::Thing(family, key);
                self.made(at, &choice, judge).map(|made| (StepTarget::Tool(at), made))
            }
            Intent::List(at, args, binds) => Some((StepTarget::Tool(at), (args, binds))),
            Intent::NextPage(at, args) => self.next_page(at, &args, judge),
            Intent::Search(at, text) => {
                let name = self.model.tools[at].query.clone()?;
                let needs_more = self.model.tools[at].required.iter().any(|required| *required != name);
                (!needs_more).then(|| (StepTarget::Tool(at), (json!({name: text}), Vec::new())))
            }
            Intent::Resources => Some((StepTarget::Resources, (json!({}), Vec::new()))),
            Intent::Restart => Some((StepTarget::Restart, (json!({}), Vec::new()))),
            Intent::Check => {
                self.check(judge);
                None
            }
            Intent::Look => {
                self.look(judge);
                None
            }
            Intent::Repeat => {
                let (target, args) = judge.world.last_write.clone()?;
                let StepTarget::Tool(at) = target else { return None };
                let tool = &self.model.tools[at];
                let is_harmless = tool.is_idempotent || tool.role == Role::Delete;
                let binds = self.binds_of(at, &args, judge);
                is_harmless.then_some((target, (args, binds)))
            }
            Intent::Pages(at) => {
                self.pages(at, judge);
                None
            }
        }
    }

    /// The binds of arguments that were sent before.
    fn binds_of(&self, at: usize, args: &Value, judge: &Judge<'_>) -> Vec<Bind> {
        let tool = &self.model.tools[at];
        let Some(name) = &tool.key else { return Vec::new() };
        let key = named_key(tool, args);
        let thing = key.and_then(|key| judge.world.things.get(&(self.model.family_of(at), key)));
        let origin = thing.and_then(|thing| thing.origin.clone());
        origin.map(|(step, path)| Bind { at: tool.place(name), step, path }).into_iter().collect()
    }

    /// One call of a tool on a thing.
    pub(super) fn single(&mut self, at: usize, family: usize, key: &str, judge: &Judge<'_>) -> Option<Step> {
        let tool = &self.model.tools[at];
        let is_keyed = tool.key.is_some();
        let choice = if is_keyed { KeyChoice::Thing(family, key.to_owned()) } else { KeyChoice::Any };
        let (args, binds) = self.made(at, &choice, judge)?;
        Some(self.numbered(StepTarget::Tool(at), args, binds))
    }

    /// A call that makes a thing of a family.
    pub fn creation(&mut self, family: usize, judge: &Judge<'_>) -> Option<Step> {
        let making: Vec<usize> = self.model.with_role(family, &[Role::Create, Role::Set]).collect();
        self.plain_call(*making.first()?, judge)
    }

    /// A valid call of a tool.
    pub fn plain_call(&mut self, at: usize, judge: &Judge<'_>) -> Option<Step> {
        let (args, binds) = self.made(at, &KeyChoice::Any, judge)?;
        Some(self.numbered(StepTarget::Tool(at), args, binds))
    }

    /// A call of a tool that names nothing that exists, where it names something.
    pub fn missing_call(&mut self, at: usize, judge: &Judge<'_>) -> Option<Step> {
        let number = self.missing_number();
        let choice = if self.model.tools[at].key.is_some() { KeyChoice::Missing(number) } else { KeyChoice::Any };
        let (args, binds) = self.made(at, &choice, judge)?;
        Some(self.numbered(StepTarget::Tool(at), args, binds))
    }

    /// A call that deletes what a tool has just made.
    pub fn deletion(&mut self, made_by: usize, judge: &Judge<'_>) -> Option<Step> {
        let (family, key) = judge.world.touched.clone()?;
        let deleting = self.model.with_role(self.model.family_of(made_by), &[Role::Delete]).next()?;
        self.single(deleting, family, &key, judge)
    }

    fn numbered(&mut self, target: StepTarget, args: Value, binds: Vec<Bind>) -> Step {
        self.next_id += 1;
        Step { id: self.next_id - 1, target, args, binds }
    }

    /// Calls of the lists of a family.
    pub(super) fn lists(&mut self, family: usize) -> Vec<Step> {
        let lists: Vec<usize> = self
            .model
            .with_role(family, &[Role::List, Role::Count])
            .filter(|at| self.model.tools[*at].needs_nothing())
            .collect();
        let first = self.next_id;
        self.next_id += u32::try_from(lists.len()).unwrap_or(0);
        let numbered = (first..).zip(lists);
        numbered.map(|(id, at)| Step { id, target: StepTarget::Tool(at), args: json!({}), binds: Vec::new() }).collect()
    }

    fn made(&mut self, at: usize, choice: &KeyChoice, judge: &Judge<'_>) -> Option<Made> {
        let tool = &self.model.tools[at];
        let context = Context { model: self.model, world: &judge.world, number: self.next_id };
        if tool.role == Role::Search && self.dice.chance(70) {
            let family = self.model.family_of(at);
            let texts: Vec<&str> = judge
                .world
                .things
                .range((family, String::new())..(family + 1, String::new()))
                .filter_map(|(_, thing)| telling_text(thing))
                .collect();
            if let (Some(text), Some(name)) = (self.dice.pick(&texts), &tool.query)
                && tool.required.iter().all(|required| required == name)
            {
                return Some((json!({name: text}), Vec::new()));
            }
        }
        self.inputs[at].make(tool, choice, &context, &mut self.dice)
    }

    /// Reads what was touched, and another thing of its kind; lists and searches them.
    fn check(&mut self, judge: &Judge<'_>) {
        let Some((family, key)) = judge.world.touched.clone() else {
            self.queue.extend(self.demands());
            return;
        };
        let mut intents = Vec::new();
        let others: Vec<String> =
            judge.world.live(family).map(|(other, _)| other.clone()).filter(|other| *other != key).collect();
        let other = self.dice.pick(&others).cloned();
        for at in self.model.with_role(family, &[Role::Read]) {
            intents.push(Intent::Read(at, family, key.clone()));
            if let Some(other) = &other {
                intents.push(Intent::Read(at, family, other.clone()));
            }
        }
        for at in self.model.with_role(family, &[Role::List, Role::Count]) {
            if self.model.tools[at].needs_nothing() && self.dice.chance(60) {
                intents.push(Intent::List(at, json!({}), Vec::new()));
            }
        }
        for at in self.model.with_role(family, &[Role::Search]) {
            let thing = judge.world.things.get(&(family, key.clone()));
            if let Some(text) = thing.and_then(telling_text).filter(|_| self.dice.chance(60)) {
                intents.push(Intent::Search(at, text.to_owned()));
            }
            // What was replaced should not be found any more.
            let past = thing.and_then(|thing| thing.past.last());
            if let Some(text) = past.filter(|text| text.len() >= 3 && self.dice.chance(60)) {
                intents.push(Intent::Search(at, text.clone()));
            }
        }
        if self.model.has_resources && self.dice.chance(40) {
            intents.push(Intent::Resources);
        }
        // A look at the list may come before the reads or after them.
        if self.dice.chance(50) {
            intents.reverse();
        }
        intents.extend(self.demands());
        self.queue.extend(intents);
    }

    /// Looks at all lists and at a few things.
    fn look(&mut self, judge: &Judge<'_>) {
        let mut intents = Vec::new();
        for (at, tool) in self.model.tools.iter().enumerate() {
            let is_list = matches!(tool.role, Role::List | Role::Count) && tool.needs_nothing() && tool.is_steady;
            if is_list {
                intents.push(Intent::List(at, json!({}), Vec::new()));
            }
        }
        for family in 0..self.model.families.len() {
            let readers: Vec<usize> = self
                .model
                .with_role(family, &[Role::Read])
                .filter(|at| self.model.tools[*at].required.len() <= 1)
                .collect();
            // What was changed in an unknown way is looked at, too: it must not change any further.
            let doubtful = judge.world.in_state(family, Life::Doubtful).map(|(key, _)| key);
            let touched = judge.world.touched.iter().filter(|(of, _)| *of == family).map(|(_, key)| key);
            let live: Vec<&String> = judge.world.live(family).map(|(key, _)| key).collect();
            let mut seen = std::collections::BTreeSet::new();
            let all: Vec<&String> = touched.chain(live.into_iter().rev()).filter(|key| seen.insert(*key)).collect();
            let doubtful: Vec<&String> = doubtful.collect();
            for at in &readers {
                for key in all.iter().take(LOOKED_AT).chain(doubtful.iter().rev().take(1)) {
                    intents.push(Intent::Read(*at, family, (*key).clone()));
                }
                // Things that are there without having been made, by names that the schema gives.
                let known: Vec<Value> = self.given_keys(*at);
                for args in known.into_iter().take(LOOKED_AT) {
                    intents.push(Intent::List(*at, args, Vec::new()));
                }
            }
        }
        if self.model.has_resources {
            intents.push(Intent::Resources);
        }
        intents.truncate(24);
        intents.extend(self.demands());
        for intent in intents.into_iter().rev() {
            self.queue.push_front(intent);
        }
    }

    /// The calls that the user wants to be made after every change.
    fn demands(&self) -> Vec<Intent> {
        self.model.demands.iter().map(|(at, args)| Intent::List(*at, args.clone(), Vec::new())).collect()
    }

    /// Arguments with keys that the schema of a reader lists.
    fn given_keys(&self, at: usize) -> Vec<Value> {
        let tool = &self.model.tools[at];
        let [only] = tool.required.as_slice() else { return Vec::new() };
        let listed = tool.schema.get("properties").and_then(|all| all.get(only)?.get("enum")?.as_array());
        listed.into_iter().flatten().map(|value| tool.whole(json!({only: value}))).collect()
    }

    /// Asks for the parts of a list.
    fn pages(&mut self, at: usize, judge: &Judge<'_>) {
        let tool = &self.model.tools[at];
        let whole = judge.world.observed.get(&(StepTarget::Tool(at), "{}".to_owned()));
        let items = whole.and_then(|whole| whole.reply.items()).map_or(0, Vec::len);
        if let Some(sort) = &tool.sort {
            let options = tool.schema.pointer(&format!("/properties/{sort}/enum")).and_then(Value::as_array);
            for option in options.into_iter().flatten().take(3) {
                self.queue.push_back(Intent::List(at, json!({sort: option}), Vec::new()));
            }
        }
        let Some(limit) = tool.limit.as_ref().filter(|_| items > 1) else { return };
        let size = 1 + self.dice.below(items - 1);
        self.queue.push_back(Intent::List(at, json!({limit: size}), Vec::new()));
        if let Some(offset) = &tool.offset {
            let mut begin = size;
            while begin < items {
                self.queue.push_back(Intent::List(at, json!({limit: size, offset: begin}), Vec::new()));
                begin += size;
            }
        } else if tool.cursor.is_some() {
            self.queue.push_back(Intent::NextPage(at, json!({limit: size})));
        }
    }

    /// The page after the last one.
    fn next_page(&mut self, at: usize, before: &Value, judge: &Judge<'_>) -> Option<(StepTarget, Made)> {
        let tool = &self.model.tools[at];
        let (cursor, limit) = (tool.cursor.as_ref()?, tool.limit.as_ref()?);
        let observed = judge.world.observed.get(&(StepTarget::Tool(at), before.to_string()))?;
        let (value, path) = next_cursor(&observed.reply)?;
        let args = json!({limit: before.get(limit)?, cursor: value});
        self.queue.push_front(Intent::NextPage(at, args.clone()));
        let bind = Bind { at: format!("/{cursor}"), step: observed.step, path };
        Some((StepTarget::Tool(at), (args, vec![bind])))
    }
}
