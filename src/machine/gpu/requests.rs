//! Requests on their way down, through queues that have an end, and their answers on the way up.

use super::engine::{Asker, Engine, Event, Request};
use super::node::{Ask, NodeId, RequestId, What, ask, holds};
use super::recorder::Name;

impl Engine<'_> {
    pub(super) fn request(
        &mut self,
        asker: Asker,
        (from, at): (NodeId, NodeId),
        ask: Ask,
        (addr, bytes): (u64, u32),
        parent: Name,
    ) -> RequestId {
        let (out, inward) = (self.recorder.name(), self.recorder.name());
        let (created, received) = (self.now, 0);
        let (stalled, put_off) = (false, false);
        self.requests.add(Request {
            asker,
            from,
            at,
            ask,
            addr,
            bytes,
            created,
            received,
            stalled,
            put_off,
            out,
            inward,
            parent,
        })
    }

    /// Sends a request to its node, or puts it off until there is room.
    pub(super) fn send(&mut self, number: RequestId) {
        let request = self.requests.get(number);
        let (from, at) = (request.from as usize, request.at as usize);
        if self.nodes[from].put_off.is_empty() && self.nodes[at].has_room() {
            return self.deliver_to(number);
        }
        request.put_off = true;
        let is_first = self.nodes[from].put_off.is_empty();
        self.nodes[from].put_off.push_back(number);
        if is_first {
            self.nodes[at].waiting.push_back(request.from);
        }
    }

    pub(super) fn deliver_to(&mut self, number: RequestId) {
        let request = self.requests.get(number);
        let (from, at) = (request.from as usize, request.at as usize);
        self.nodes[at].coming += 1;
        let time = self.now + self.nodes[from].wire;
        self.at(time, Event::Arrive(number));
    }

    pub(super) fn arrive(&mut self, number: RequestId) {
        let now = self.now;
        let request = self.requests.get(number);
        request.received = now;
        let at = request.at;
        if request.put_off {
            let out = request.out;
            self.recorder.waited(out, now, &self.nodes[at as usize].name, "Queue");
        }
        let node = &mut self.nodes[at as usize];
        node.coming -= 1;
        node.queue.push_back(number);
        self.wake(at);
    }

    pub(super) fn wake(&mut self, at: NodeId) {
        let node = &mut self.nodes[at as usize];
        if !node.awake && !node.queue.is_empty() {
            node.awake = true;
            let time = node.free.max(self.now);
            self.at(time, Event::Serve(at));
        }
    }

    /// There is room again: those that wait for it send what they put off, in their order.
    pub(super) fn room(&mut self, at: NodeId) {
        while self.nodes[at as usize].has_room()
            && let Some(sender) = self.nodes[at as usize].waiting.pop_front()
        {
            while let Some(&first) = self.nodes[sender as usize].put_off.front() {
                let target = self.requests.get(first).at;
                if !self.nodes[target as usize].has_room() {
                    self.nodes[target as usize].waiting.push_back(sender);
                    break;
                }
                self.nodes[sender as usize].put_off.pop_front();
                self.deliver_to(first);
                // One of each in turn; what is for another node goes on at once where there is room.
                if let Some(&next) = self.nodes[sender as usize].put_off.front()
                    && self.requests.get(next).at == at
                {
                    self.nodes[at as usize].waiting.push_back(sender);
                    break;
                }
            }
            if self.nodes[sender as usize].put_off.is_empty() {
                self.wake(sender);
            }
        }
    }

    /// Has a node look at the first request of its queue.
    pub(super) fn serve(&mut self, at: NodeId) {
        let now = self.now;
        let node = &mut self.nodes[at as usize];
        node.awake = false;
        let Some(&number) = node.queue.front() else { return };
        if !node.put_off.is_empty() {
            return;
        }
        let request = self.requests.get(number);
        let (asks, addr, bytes, inward) = (request.ask, request.addr, request.bytes, request.inward);
        let known = now + node.latency;
        let mut after = Vec::new();
        let tag = match &mut node.what {
            What::Cache { lines, sector, misses, most } => {
                let key = addr / *sector * *sector;
                if let Some(waiting) = misses.get_mut(&key).filter(|_| asks != Ask::Write) {
                    waiting.push(number);
                    node.numbers.merged += 1;
                    Some("mshr-hit")
                } else if misses.len() >= *most && !holds(lines, addr) {
                    request.stalled = true;
                    return;
                } else {
                    let outcome = ask(lines, asks, addr, bytes);
                    #[cfg(test)]
                    self.log.push((at, asks, addr, bytes, outcome.hit));
                    if outcome.hit {
                        node.numbers.hits += 1;
                    } else {
                        node.numbers.misses += 1;
                    }
                    let own = outcome.writes.iter().any(|(.., own)| *own);
                    if outcome.read {
                        misses.entry(key).or_default().extend((!own).then_some(number));
                        let size = u32::try_from(*sector).unwrap_or(u32::MAX);
                        let below = if asks == Ask::Translate { Ask::Translate } else { Ask::Read };
                        // A store that is sent on is answered by what is below, and waits for no line.
                        after.push((Asker::Fill(at, key), below, key, size, if own { 0 } else { inward }));
                    } else if !own {
                        self.at(known, Event::Answer(number));
                    }
                    for (first, count, own) in outcome.writes {
                        let size = u32::try_from(count).unwrap_or(u32::MAX);
                        match own {
                            true => after.push((Asker::Passed(number), Ask::Write, first, size, inward)),
                            false => after.push((Asker::None, Ask::Write, first, size, 0)),
                        }
                    }
                    Some(if outcome.hit { "hit" } else { "miss" })
                }
            }
            What::Walker { under_way, most } => {
                if *under_way >= *most {
                    request.stalled = true;
                    return;
                }
                *under_way += 1;
                self.at(known, Event::Answer(number));
                None
            }
            What::Dram { config, rows, free } => {
                let row = addr / config.row;
                let bank = usize::try_from(row % u64::from(config.banks)).unwrap_or(0);
                let is_open = rows[bank] == Some(row);
                rows[bank] = Some(row);
                if is_open {
                    node.numbers.hits += 1;
                } else {
                    node.numbers.misses += 1;
                }
                let latency = u64::from(if is_open { config.row_hit } else { config.row_miss });
                *free = now + u64::from(config.interval);
                let time = now + latency;
                self.at(time, Event::Answer(number));
                Some(if is_open { "row-hit" } else { "row-miss" })
            }
        };
        let node = &mut self.nodes[at as usize];
        node.queue.pop_front();
        node.numbers.requests += 1;
        node.numbers.bytes += u64::from(bytes);
        node.free = match &node.what {
            What::Dram { free, .. } => *free,
            _ => now + 1,
        };
        let request = self.requests.get(number);
        if request.received < now {
            let part = if request.stalled { "MSHR" } else { "Port" };
            self.recorder.waited(inward, now, &self.nodes[at as usize].name, part);
        }
        if let Some(tag) = tag {
            let kind = match asks {
                Ask::Read => "read-",
                Ask::Write => "write-",
                Ask::Translate => "",
            };
            self.recorder.tag(inward, now, (kind, tag));
        }
        for (asker, asks, addr, bytes, parent) in after {
            let below = self.nodes[at as usize].below_for(addr, self.config.interleave);
            let below = below.expect("a cache has something behind it");
            let child = self.request(asker, (at, below), asks, (addr, bytes), parent);
            self.requests.get(child).created = known;
            self.at(known, Event::Send(child));
        }
        self.room(at);
        self.wake(at);
    }

    /// A node has what was asked for.
    pub(super) fn answer(&mut self, number: RequestId) {
        let now = self.now;
        let request = self.requests.get(number);
        let at = request.at;
        let (ask, received, names) = (request.ask, request.received, (request.inward, request.out));
        let wire = self.nodes[request.from as usize].wire;
        let node = &mut self.nodes[at as usize];
        node.numbers.answered += 1;
        node.numbers.cycles += now - received;
        if let What::Walker { under_way, .. } = &mut node.what {
            *under_way = under_way.saturating_sub(1);
            self.wake(at);
        }
        self.recorder.inward(names, action(ask), &self.nodes[at as usize].name, (received, now));
        self.at(now + wire, Event::Deliver(number));
    }

    /// The answer is where it was asked for.
    pub(super) fn deliver(&mut self, number: RequestId) {
        let now = self.now;
        let request = self.requests.take(number);
        let from = &self.nodes[request.from as usize].name;
        self.recorder.out((request.out, request.parent), action(request.ask), from, (request.created, now));
        match request.asker {
            Asker::Fill(node, key) => {
                let What::Cache { misses, .. } = &mut self.nodes[node as usize].what else { return };
                for waiting in misses.remove(&key).unwrap_or_default() {
                    self.at(now, Event::Answer(waiting));
                }
                self.wake(node);
            }
            Asker::Passed(store) => self.at(now, Event::Answer(store)),
            Asker::Access(access) => {
                let access = self.accesses.take(access);
                let wave = self.instructions.get(access.instruction).wave;
                let unit = self.waves.get(wave).unit as usize;
                self.access(unit, access);
            }
            Asker::Instruction(instruction) => self.answered(instruction),
            Asker::None => {}
        }
    }
}

fn action(ask: Ask) -> &'static str {
    match ask {
        Ask::Read => "ReadReq",
        Ask::Write => "WriteReq",
        Ask::Translate => "TranslationReq",
    }
}
