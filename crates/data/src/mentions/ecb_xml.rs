//! ECB+ as it is distributed: a folder of CAT XML files by topic, and the list of validated sentences.
//!
//! ```text
//! ECB+/1/1_10ecb.xml                    <token t_id sentence>, <TAG m_id> of <token_anchor t_id>, <CROSS_DOC_COREF note> of <source m_id>
//! ECBplus_coreference_sentences.csv     Topic,File,Sentence Number
//! ```
//!
//! The rules are those of Cattan et al. 2021: a mention is kept where the sentence of its first token is validated; its cluster
//! is the instance its cross-document relation names, `INTRA_…` for a relation within the document, `SINGLETON_…` for neither.
//! Topics 36 to 45 test, 2, 5, 12, 18, 21, 23, 34 and 35 are for tuning, the others train (15 and 17 do not exist).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{CorefPart, MentionCorpus, NewsDocument};
use crate::error::DataError;
use crate::lines::Lines;

mod cat_file;

use cat_file::CatFile;

const DEV_TOPICS: [u32; 8] = [2, 5, 12, 18, 21, 23, 34, 35];
const FIRST_TEST_TOPIC: u32 = 36;

impl MentionCorpus {
    /// Reads the folder that holds one folder a topic, and the CSV file of validated sentences.
    ///
    /// # Errors
    /// [`DataError`] with file and line: XML that is not well formed, an element without the attribute it needs, an id that was
    /// seen before, an anchor or a relation to an id that is not there, a mention in two relations; a CSV line of another form; a
    /// folder without documents.
    pub fn read_ecb_xml(name: &str, folder: &Path, sentences: &Path) -> Result<Self, DataError> {
        let validated = read_validated(sentences)?;
        let (mut documents, mut mentions) = (Vec::new(), Vec::new());
        for (topic, path) in files(folder)? {
            let text = std::fs::read_to_string(&path).map_err(DataError::io(&path))?;
            let file = CatFile::read(&path, &text)?;
            let id = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let document = NewsDocument {
                subtopic: format!("{topic}_{}", u8::from(id.ends_with("ecb.xml"))),
                topic: topic.to_string(),
                part: part_of(topic),
                validated: validated.get(&id).cloned().unwrap_or_default(),
                tokens: file.tokens.clone(),
                id,
            };
            mentions.extend(file.mentions(&path, documents.len(), &document)?);
            documents.push(document);
        }
        if documents.is_empty() {
            return Err(DataError::Empty { path: folder.to_owned(), what: "documents `<topic>/<topic>_*.xml`" });
        }
        Ok(Self::sorted(name, documents, mentions))
    }
}

fn part_of(topic: u32) -> CorefPart {
    match topic {
        FIRST_TEST_TOPIC.. => CorefPart::Test,
        _ if DEV_TOPICS.contains(&topic) => CorefPart::Dev,
        _ => CorefPart::Train,
    }
}

/// The XML files with their topics: by topic, then by name.
fn files(folder: &Path) -> Result<Vec<(u32, PathBuf)>, DataError> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>, DataError> {
        let entries = std::fs::read_dir(folder).map_err(DataError::io(folder))?;
        entries.map(|entry| Ok(entry.map_err(DataError::io(folder))?.path())).collect()
    };
    let mut found = Vec::new();
    for topic in list(folder)?.into_iter().filter(|path| path.is_dir()) {
        let number = topic.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
        let Some(number) = number else { continue };
        let is_xml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "xml");
        found.extend(list(&topic)?.into_iter().filter(is_xml).map(|path| (number, path)));
    }
    found.sort();
    Ok(found)
}

/// Validated sentences by document, ascending.
fn read_validated(path: &Path) -> Result<HashMap<String, Vec<usize>>, DataError> {
    let mut validated: HashMap<String, Vec<usize>> = HashMap::new();
    let mut lines = Lines::open(path)?;
    while let Some((number, line)) = lines.next_line()? {
        if number == 1 || line.trim().is_empty() {
            continue;
        }
        let columns: Vec<&str> = line.split(',').map(str::trim).collect();
        let parsed = match columns[..] {
            [topic, file, sentence] => topic
                .parse::<u32>()
                .ok()
                .zip(sentence.parse().ok())
                .map(|(topic, s)| (format!("{topic}_{file}.xml"), s)),
            _ => None,
        };
        let Some((document, sentence)) = parsed else {
            return Err(malformed(path, number, format!("`{line}`"), "`topic,file,sentence`, such as `1,10ecbplus,3`"));
        };
        validated.entry(document).or_default().push(sentence);
    }
    for sentences in validated.values_mut() {
        sentences.sort_unstable();
        sentences.dedup();
    }
    Ok(validated)
}

fn malformed(path: &Path, line: usize, seen: String, wanted: &str) -> DataError {
    DataError::Malformed { path: path.to_owned(), line, seen, wanted: wanted.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mentions::{MentionKinds, Token};

    const FILE: &str = r#"<?xml version="1.0"?>
<Document doc_name="36_1ecb.xml" doc_id="D">
<token t_id="1" sentence="0" number="0">Fire</token>
<token t_id="2" sentence="0" number="1">at</token>
<token t_id="3" sentence="0" number="2">A&amp;B</token>
<token t_id="4" sentence="1" number="0">unchecked</token>
<Markables>
<ACTION_OCCURRENCE m_id="10" >
  <token_anchor t_id="1"/>
</ACTION_OCCURRENCE>
<LOC_FAC m_id="11" note="byCROMER" >
  <token_anchor t_id="3"/>
</LOC_FAC>
<LOC_FAC m_id="12" >
  <token_anchor t_id="4"/>
</LOC_FAC>
<NEG_ACTION_STATE m_id="13" >
  <token_anchor t_id="3"/>
  <token_anchor t_id="1"/>
</NEG_ACTION_STATE>
<ACTION_OCCURRENCE m_id="20" RELATED_TO="" TAG_DESCRIPTOR="fire" instance_id="ACT1" />
</Markables>
<Relations>
<CROSS_DOC_COREF r_id="5" note="ACT1" >
  <source m_id="10" />
  <target m_id="20" />
</CROSS_DOC_COREF>
<INTRA_DOC_COREF r_id="6" >
  <source m_id="13" />
  <target m_id="20" />
</INTRA_DOC_COREF>
</Relations>
</Document>
"#;

    fn read(text: &str) -> Result<MentionCorpus, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("36")).unwrap();
        std::fs::write(folder.path().join("36/36_1ecb.xml"), text).unwrap();
        let sentences = folder.path().join("sentences.csv");
        std::fs::write(&sentences, "Topic,File,Sentence Number\n36,1ecb,0\n").unwrap();
        MentionCorpus::read_ecb_xml("mine", folder.path(), &sentences).map_err(|error| error.to_string())
    }

    #[test]
    fn mentions_of_validated_sentences_get_the_cluster_their_relation_names() {
        let corpus = read(FILE).unwrap();
        let document = &corpus.documents()[0];
        assert_eq!(
            (document.topic.as_str(), document.subtopic.as_str(), document.part),
            ("36", "36_1", CorefPart::Test)
        );
        assert_eq!(document.tokens[2], Token { sentence: 0, text: "A&B".into() });
        let seen: Vec<(&[usize], &str)> =
            corpus.mentions().iter().map(|mention| (mention.tokens.as_slice(), mention.cluster.as_str())).collect();
        let wanted = [(&[0][..], "ACT1"), (&[0, 2], "INTRA_6_ev_36_1ecb.xml"), (&[2], "SINGLETON_36_1ecb.xml_11")];
        assert_eq!(seen, wanted);
        assert_eq!(corpus.counts(CorefPart::Test, MentionKinds::Both).singletons, 3);
    }

    #[test]
    fn malformed_xml_is_named_with_file_and_line() {
        for (from, to, wanted) in [
            ("</LOC_FAC>", "</LOC_FAK>", ":13: "),
            ("</Relations>\n</Document>\n", "", ":32: the file ends inside 2 open elements"),
            ("A&amp;B", "A&B;", ":5: the unknown entity `&B;`"),
            ("t_id=\"2\" ", "", ":4: `<token>` without `t_id`"),
            ("t_id=\"2\"", "t_id=\"1\"", ":4: the token 1 comes twice"),
            ("sentence=\"1\"", "sentence=\"one\"", ":6: the sentence `one` of token 4"),
            ("<token_anchor t_id=\"4\"/>", "<token_anchor t_id=\"9\"/>", ":15: an anchor to the unknown token 9"),
            ("m_id=\"12\"", "m_id=\"11\"", ":14: the mention 11 comes twice"),
            ("<source m_id=\"13\" />", "<source m_id=\"99\" />", ":29: a relation of the unknown mention 99"),
            ("<target m_id=\"20\" />", "<target m_id=\"21\" />", ":26: a relation to the unknown instance 21"),
            ("<source m_id=\"13\" />", "<source m_id=\"10\" />", ":28: the mention 10 is in the relations 5 and 6"),
            (
                "  <token_anchor t_id=\"3\"/>\n  <token_anchor t_id=\"1\"/>",
                "  <token_anchor t_id=\"1\"/>",
                ":17: the mention 13 has the same tokens as another",
            ),
        ] {
            let message = read(&FILE.replacen(from, to, 1)).unwrap_err();
            assert!(message.contains("36_1ecb.xml") && message.contains(wanted), "{wanted}: {message}");
        }
    }

    #[test]
    fn a_folder_without_documents_and_a_list_of_another_form_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let sentences = folder.path().join("sentences.csv");
        std::fs::write(&sentences, "Topic,File,Sentence Number\n1,10ecb\n").unwrap();
        let message = MentionCorpus::read_ecb_xml("mine", folder.path(), &sentences).unwrap_err().to_string();
        assert!(message.contains("sentences.csv:2: `1,10ecb`"), "{message}");
        std::fs::write(&sentences, "Topic,File,Sentence Number\n").unwrap();
        let message = MentionCorpus::read_ecb_xml("mine", folder.path(), &sentences).unwrap_err().to_string();
        assert!(message.contains("holds no documents"), "{message}");
    }
}
