// What an instrumented kernel writes its events with. `words` starts with what is launched, then comes a slot for each item of the part:
// how many words it had to say, the line of the loop that it was stopped in, the words, and a last one that takes what has no room.
// `put` has no branch: drivers put it wherever it is called.

@group(0) @binding(0) var<storage, read_write> words: array<u32>;

// Where the next word goes, where the slot starts, and where it ends.
var<private> at: u32;
var<private> start: u32;
var<private> end: u32;
// Rounds of loops that are left, and the line of the loop that had none left.
var<private> fuel: u32;
var<private> stopped: u32;

var<private> group_id: vec3<u32>;
var<private> groups: vec3<u32>;
var<private> global_id: vec3<u32>;

fn put(word: u32) {
    words[min(at, end)] = word;
    at += 1u;
}

fn bit(tag: u32, holds: bool) {
    put(tag | select(0u, 1u, holds));
}

fn number(tag: u32, value: u32) {
    put(tag | (value & 0xffffu));
    put(tag | (value >> 16u));
}

fn past(word: u32, index: u32, length: u32) {
    put(word);
    put(index);
    put(length);
}

// A texel is accessed: which of them it is, row after row and layer after layer, or what is past the end.
fn texel(past_word: u32, access: u32, coordinate: vec3<u32>, size: vec3<u32>, level: u32) {
    if level != 0u {
        past(past_word, level, 1u);
    } else if coordinate.x >= size.x {
        past(past_word, coordinate.x, size.x);
    } else if coordinate.y >= size.y {
        past(past_word, coordinate.y, size.y);
    } else if coordinate.z >= size.z {
        past(past_word, coordinate.z, size.z);
    } else {
        put(access | ((coordinate.z * size.y + coordinate.y) * size.x + coordinate.x));
    }
}

// A sampler reads there: the texel, past the edge too. `shift` is in texels.
fn sampled(word: u32, coordinate: vec3<f32>, size: vec3<u32>, shift: vec3<i32>) {
    let texel = clamp(floor(coordinate * vec3<f32>(size)), vec3<f32>(-16777216.0), vec3<f32>(16777216.0));
    let whole = vec3<u32>(vec3<i32>(texel) + shift);
    put(word);
    put(whole.x);
    put(whole.y);
    put(whole.z);
}

// Whether a loop may go one more round.
fn round(line: u32) -> bool {
    if fuel == 0u {
        if stopped == 0u {
            stopped = line;
        }
        return false;
    }
    fuel -= 1u;
    return true;
}

// Whether there is such a group, and which it is. `size` is a group's.
fn begin(part_group: vec3<u32>, local: vec3<u32>, index: u32, size: vec3<u32>) -> bool {
    let number = part_group.y * words[2] + part_group.x;
    if number >= words[1] {
        return false;
    }
    groups = vec3<u32>(words[3], words[4], words[5]);
    let which = words[0] + number;
    let row = which / groups.x;
    group_id = vec3<u32>(which % groups.x, row % groups.y, row / groups.y);
    global_id = group_id * size + local;
    start = 8u + (number * size.x * size.y * size.z + index) * (3u + words[6]);
    at = start + 2u;
    end = at + words[6];
    fuel = words[7];
    return true;
}

fn done() {
    words[start] = at - start - 2u;
    words[start + 1u] = stopped;
}
