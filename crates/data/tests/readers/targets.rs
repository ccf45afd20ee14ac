//! Readers of users' files, each as a function of bytes: what `main.rs` feeds with mutated examples.

use std::io::{Cursor, Write};
use std::path::Path;

use landmark_data::conll::ConllFile;
use landmark_data::dependencies::read_conllu;
use landmark_data::matrices::{read_rows, read_square};
use landmark_data::pairs::{PairColumns, PairScale};
use landmark_data::relevancy::Judgments;
use landmark_data::{
    Columns, KelpExamples, LabelledDocuments, MentionCorpus, RowFormat, SentencePairs, Threads, Tree, VectorFiles,
    VectorFormat, WordVectors,
};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) read: fn(&Path, &[u8]) -> Result<(), String>,
    pub(crate) examples: fn() -> Vec<Vec<u8>>,
}

const DOCUMENTS: &[u8] = include_bytes!("../../embedded/documents.tsv");
const PAIRS: &[u8] = include_bytes!("../../embedded/pairs.tsv");
const THREADS: &[u8] = include_bytes!("../../embedded/threads.jsonl");
const NEWS: &[u8] = include_bytes!("../../embedded/news.jsonl");
const MENTIONS: &[u8] = include_bytes!("../../embedded/news_mentions.jsonl");

const CONLL: &[u8] = include_bytes!("example.conll");

const CONLLU: &[u8] = b"# text = The dogs don't bark
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdogs\tdog\tNOUN\tNNS\t_\t5\tnsubj\t_\t_
3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
3\tdo\tdo\tAUX\tVBP\t_\t5\taux\t_\t_
4\tn't\t_\tPART\t_\t_\t5\tneg\t_\t_
5\tBark\tBark\tVERB\tVB\t_\t0\troot\t_\t_

1\tStop\tstop\tVERB\tVB\t_\t0\troot\t_\t_
";

const KELP: &[u8] = b"NUM |BS:quest| How far ? |ES| |BV:bow| _far__r:1.0 a:b:2 |EV| |BT:grct| (S(A(x))(B y)) |ET| 
LOC |BS:quest| Where ? |ES| |BV:bow| where:0.5 _far__r:3 |EV| |BT:grct| (S z) |ET|
";

fn npy(version: u8, descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes()),
        _ => bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes()),
    }
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

fn matrices() -> Vec<Vec<u8>> {
    let numbers: Vec<u8> = [0.0_f64, 1.0, 1.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let short: Vec<u8> = [0.0_f32, 2.0, 2.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    vec![
        npy(1, "<f8", "(2, 2)", &numbers),
        npy(2, "<f4", "(2, 2)", &short),
        // a header that promises more than there is
        npy(1, "<f8", "(4000000000, 4000000000)", &numbers),
        npy(1, "<f8", "(100000, 100000)", &numbers),
        npy(3, "<f2", "(2, 4)", &short),
    ]
}

fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn archives() -> Vec<Vec<u8>> {
    matrices().into_iter().map(|matrix| archive(&[("arr_0.npy", matrix)])).collect()
}

/// A sparse matrix as SciPy writes it: [[0, 2], [2, 0]] by rows.
fn sparse() -> Vec<u8> {
    let whole = |numbers: &[i32]| -> Vec<u8> { numbers.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let wide: Vec<u8> = [2_i64, 2].iter().flat_map(|x| x.to_le_bytes()).collect();
    let data: Vec<u8> = [2.0_f64, 2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    archive(&[
        ("indices.npy", npy(1, "<i4", "(2,)", &whole(&[1, 0]))),
        ("indptr.npy", npy(1, "<i4", "(3,)", &whole(&[0, 1, 2]))),
        ("format.npy", npy(1, "|S3", "()", b"csr")),
        ("shape.npy", npy(1, "<i8", "(2,)", &wide)),
        ("data.npy", npy(1, "<f8", "(2,)", &data)),
    ])
}

/// Matrices in lines, as pandas, R and spreadsheets write them.
fn matrices_in_lines() -> Vec<Vec<u8>> {
    vec![
        b"0,1\n1,0\n".to_vec(),
        b"\xef\xbb\xbf;a;b\r\na;0,5;1\r\nb;1;0\r\n".to_vec(),
        b"\"\",\"a, b\",\"#c\"\n\"a, b\",0,1\n\"#c\",1,0\n".to_vec(),
        b"sep=;\r1;2\r2;1\r".to_vec(),
    ]
}

fn vectors() -> Vec<Vec<u8>> {
    let mut binary = b"2 3\n".to_vec();
    for word in ["dog ", "cat "] {
        binary.extend(word.as_bytes());
        binary.extend([1.0_f32, -2.0, 0.5].iter().flat_map(|x| x.to_le_bytes()));
        binary.push(b'\n');
    }
    vec![
        b"2 3\ndog 1 2 3\ncat 0.5 -1 2e3\n".to_vec(),
        b"dog 1 2 3\ncat 0.5 -1 2e3\n".to_vec(),
        b"4000000000 4000000000\ndog 1 2\n".to_vec(),
        // as they come: a mark, padding, NBSP, a word with numbers, a repetition, a bad byte, an end of blank lines
        b"\xef\xbb\xbfdog  1 2 3 \np.\xc2\xa0ex. 1 0 0\n1 800 3 4 5\ndog 0 0 0\ncaf\xe9 1 2 3\ncafe\xcc\x81 1 1 1\n\n"
            .to_vec(),
        archive(&[("vectors.txt", b"dog 1 2 3\ncat 0.5 -1 2e3\n".to_vec())]),
        binary,
    ]
}

fn lines(bytes: &[u8], count: usize) -> Vec<u8> {
    bytes.split_inclusive(|&byte| byte == b'\n').take(count).flatten().copied().collect()
}

fn outcome<T>(read: Result<T, landmark_data::DataError>) -> Result<(), String> {
    read.map(drop).map_err(|error| error.to_string())
}

pub(crate) const TARGETS: [Target; 16] = [
    Target {
        name: "documents, TSV",
        file: "items.tsv",
        read: |path, _| outcome(LabelledDocuments::read("mine", path, RowFormat::Tsv, &Columns::default())),
        examples: || {
            let quoted = b"sep=\t\nlabel\ttext\na\t\"x \"\"y\"\"\"\nb\tz\n";
            vec![lines(DOCUMENTS, 4), b"label\ttext\na\tx y\nb\tz\n".to_vec(), quoted.to_vec()]
        },
    },
    Target {
        name: "documents, JSON lines",
        file: "items.jsonl",
        read: |path, _| outcome(LabelledDocuments::read("mine", path, RowFormat::Jsonl, &Columns::default())),
        examples: || {
            vec![b"{\"label\": \"a\", \"text\": \"x\\u00e9\"}\n{\"label\": \"b\", \"text\": \"y\"}\n".to_vec()]
        },
    },
    Target {
        name: "pairs, TSV",
        file: "pairs.tsv",
        read: |path, _| {
            let columns =
                PairColumns { first: "sentence1", second: "sentence2", target: "score", scale: PairScale::Grade };
            outcome(SentencePairs::read(path, &columns))
        },
        examples: || vec![lines(PAIRS, 4)],
    },
    Target {
        name: "threads, JSON lines",
        file: "threads.jsonl",
        read: |path, _| outcome(Threads::read("mine", path)),
        examples: || vec![lines(THREADS, 1), lines(THREADS, 2)],
    },
    Target {
        name: "mentions, JSON lines",
        file: "documents.jsonl",
        read: |path, _| {
            let mentions = path.with_file_name("mentions.jsonl");
            std::fs::write(&mentions, lines(MENTIONS, 3)).map_err(|error| error.to_string())?;
            outcome(MentionCorpus::read("mine", path, &mentions))
        },
        examples: || vec![lines(NEWS, 1)],
    },
    Target {
        name: "coreference, CoNLL-2012",
        file: "key.conll",
        read: |path, _| outcome(ConllFile::read(path)),
        examples: || {
            vec![CONLL.to_vec(), b"# begin document (news/a); part 000\na 0 0 #fire (1)\n# end document\n".to_vec()]
        },
    },
    Target {
        name: "parses, CoNLL-U",
        file: "mine.conllu",
        read: |path, _| {
            let sentences = read_conllu(path).map_err(|error| error.to_string())?;
            for sentence in sentences {
                for kind in [
                    landmark_data::dependencies::DependencyTree::Grct,
                    landmark_data::dependencies::DependencyTree::Lct,
                    landmark_data::dependencies::DependencyTree::Loct,
                ] {
                    sentence.tree(kind);
                }
            }
            Ok(())
        },
        examples: || {
            let marked =
                [b"\xef\xbb\xbf1\t(:\t_\tSYM\tSYM\t_\t0\troot\t_\t_\r\n2\t10 000\t#\tNUM\tCD\t_\t1\tdep\t_\t_\r\n"
                    .as_slice()];
            vec![CONLLU.to_vec(), marked.concat()]
        },
    },
    Target {
        name: "examples, KeLP",
        file: "mine.klp",
        read: |path, _| {
            let examples = KelpExamples::read("mine", &[(path, None)]).map_err(|error| error.to_string())?;
            let ids: Vec<String> = examples.documents("quest").map_err(|error| error.to_string())?.ids().to_vec();
            outcome(examples.trees("grct", &ids))
        },
        examples: || vec![KELP.to_vec()],
    },
    Target {
        name: "trees in brackets",
        file: "trees.txt",
        read: |_, bytes| {
            let text = String::from_utf8_lossy(bytes);
            if let Ok(tree) = text.parse::<Tree>() {
                // what is written reads back
                let again: Result<Tree, _> = tree.to_string().parse();
                if again.as_ref() != Ok(&tree) {
                    return Err(format!("trees.txt: `{tree}` reads back as {again:?}"));
                }
                tree.height();
            }
            Ok(())
        },
        examples: || {
            vec![b"(S (A x) (B y))".to_vec(), b"(S(NP(D the)(N dog))(VP barks))".to_vec(), b"( (S (A x)))".to_vec()]
        },
    },
    Target {
        name: "relevancy",
        file: "gold",
        read: |path, _| outcome(Judgments::read(path)),
        examples: || vec![b"q1\ta\t1\t1\ttrue\nq1\tb\t2\t0.5\tfalse\nq2\tc\t1\t1\tfalse\n".to_vec()],
    },
    Target { name: "matrix, npy", file: "matrix.npy", read: |path, _| outcome(read_square(path)), examples: matrices },
    Target {
        name: "matrix, sparse npz",
        file: "sparse.npz",
        read: |path, _| outcome(read_square(path)),
        examples: || vec![sparse()],
    },
    Target {
        name: "matrix, lines",
        file: "matrix.csv",
        read: |path, _| outcome(read_square(path)),
        examples: matrices_in_lines,
    },
    Target { name: "rows, npz", file: "rows.npz", read: |path, _| outcome(read_rows(path)), examples: archives },
    Target { name: "rows, npy", file: "rows.npy", read: |path, _| outcome(read_rows(path)), examples: matrices },
    Target {
        name: "word vectors",
        file: "vectors.bin",
        read: |path, _| {
            let mut all = Ok(());
            for format in [VectorFormat::Word2vecText, VectorFormat::Word2vecBinary, VectorFormat::GloveText] {
                all = all.and(outcome(WordVectors::read(&VectorFiles::new(format, path), &|_| true)));
            }
            all
        },
        examples: vectors,
    },
];
