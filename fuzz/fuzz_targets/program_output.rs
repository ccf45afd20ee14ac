//! Lines of a scoring program: its greeting and its answers.

#![no_main]

use landmark_fuzz::seed;
use landmark_oracles::subprocess::read_output;
use libfuzzer_sys::fuzz_target;

const EXAMPLES: [&str; 4] = [
    "{\"landmark\": 1, \"identity\": \"mine\", \"symmetric\": true, \"pairs\": \"id\", \"diagonal\": 1.0}\n",
    "\u{feff}loading the model\r\n{\"landmark\": 1, \"identity\": \"mine\", \"symmetric\": true, \"pairs\": \"text\"}\r\n",
    "{\"batch\": 3, \"scores\": [1, -0.5, null, NaN, -Infinity, {\"error\": \"too long\"}]}\n",
    "{\"batch\":1,\"scores\":[0.25]}\n\n{\"batch\":2,\"scores\":[1e3,-7]}\n",
];

fuzz_target!(init: seed(EXAMPLES.map(|line| line.into()).to_vec()), |bytes: &[u8]| read_output(bytes));
