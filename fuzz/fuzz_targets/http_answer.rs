//! Answers of servers: rerankers, scorers, chat models, embeddings.

#![no_main]

use landmark_fuzz::seed;
use landmark_http::fuzzing::read_answer;
use libfuzzer_sys::fuzz_target;

/// The first byte is the number of pairs, less one.
const EXAMPLES: [&str; 11] = [
    "\u{1}{\"results\": [{\"index\": 1, \"relevance_score\": 0.5}, {\"index\": 0, \"relevance_score\": 2}]}",
    "\u{1}{\"data\": [{\"score\": 3}, {\"score\": 4}], \"model\": \"m\", \"usage\": {\"total_tokens\": 9}}",
    "\u{0}[{\"index\": 0, \"score\": 1.5}]",
    "\u{0}{\"choices\": [{\"message\": {\"content\": \"```json\\n{\\\"score\\\": 7}\\n``` Rating: 8.5\"}}]}",
    "\u{1}{\"choices\": [{\"message\": {\"content\": \"2: 3\\n1) 9.5\"}}], \"system_fingerprint\": \"f\"}",
    "\u{0}{\"choices\": [{\"logprobs\": {\"content\": [{\"top_logprobs\": [{\"token\": \"8\", \"logprob\": -0.5}]}]}}]}",
    "\u{0}{\"choices\": [{\"message\": {\"content\": \"On a scale of 0 to 10: **8 out of 10**, for 3 reasons\"}}]}",
    "\u{0}{\"error\": {\"code\": 429, \"message\": \"try again in 1m30s\", \"details\": [{\"retryDelay\": \"7s\"}]}}",
    "\u{0}{\"choices\": null, \"error\": {\"type\": \"context_length_exceeded\"}}",
    "\u{0}1735689600000",
    "\u{1}{\"data\": [{\"index\": 0, \"embedding\": [0.5, 1]}, {\"index\": 1, \"embedding\": [2, -1]}]}",
];

fuzz_target!(init: seed(EXAMPLES.map(|answer| answer.into()).to_vec()), |bytes: &[u8]| read_answer(bytes));
