#!/bin/sh
# The share of words that two texts have in common (Jaccard), in one line of jq.
exec jq --unbuffered -c 'if .landmark then {landmark: 1, identity: "words in common, version 1", symmetric: true} else {batch, scores: [.pairs[] | map(ascii_downcase | split(" ") | unique) | (.[0] + .[1] | unique | length) as $all | ((.[0] | length) + (.[1] | length) - $all) / $all]} end'
