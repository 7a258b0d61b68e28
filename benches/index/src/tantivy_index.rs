//! tantivy over the same terms, in a directory of its own.

use std::path::{Path, PathBuf};

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions, Value as _};
use tantivy::tokenizer::WhitespaceTokenizer;
use tantivy::{Index, IndexReader, IndexWriter, TantivyDocument, Term};

use crate::corpus::{Corpus, Question};
use crate::{Engine, Failure, HITS};

pub(crate) struct Tantivy {
    path: PathBuf,
    reader: IndexReader,
    terms: Field,
    number: Field,
}

impl Tantivy {
    pub(crate) fn build(path: &Path, corpus: &Corpus) -> Result<Self, Failure> {
        std::fs::create_dir(path)?;
        let mut schema = Schema::builder();
        let indexing =
            TextFieldIndexing::default().set_tokenizer("blanks").set_index_option(IndexRecordOption::WithFreqs);
        let terms = schema.add_text_field("terms", TextOptions::default().set_indexing_options(indexing));
        let number = schema.add_i64_field("number", tantivy::schema::STORED | FAST);
        let index = Index::create_in_dir(path, schema.build())?;
        index.tokenizers().register("blanks", WhitespaceTokenizer::default());
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 64 << 20)?;
        corpus.each(|documents| {
            for (nth, text) in documents {
                let mut document = TantivyDocument::new();
                document.add_text(terms, text);
                document.add_i64(number, *nth);
                writer.add_document(document)?;
            }
            Ok(())
        })?;
        writer.commit()?;
        writer.wait_merging_threads()?;
        Ok(Self { path: path.to_owned(), reader: index.reader()?, terms, number })
    }
}

impl Engine for Tantivy {
    fn name(&self) -> String {
        format!("tantivy ({} segments)", self.reader.searcher().segment_readers().len())
    }

    fn search(&self, question: &Question) -> Result<Vec<i64>, Failure> {
        let term = |term: &String| -> (Occur, Box<dyn Query>) {
            let term = Term::from_field_text(self.terms, term);
            (Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
        };
        let query = BooleanQuery::new(question.content.iter().map(term).collect());
        let searcher = self.reader.searcher();
        let found = searcher.search(&query, &TopDocs::with_limit(HITS).order_by_score())?;
        let mut numbers = Vec::new();
        for (_, address) in found {
            let document: TantivyDocument = searcher.doc(address)?;
            numbers.extend(document.get_first(self.number).and_then(|value| value.as_i64()));
        }
        Ok(numbers)
    }

    fn bytes(&self) -> Result<u64, Failure> {
        let sizes = std::fs::read_dir(&self.path)?.map(|file| Ok::<_, Failure>(file?.metadata()?.len()));
        sizes.sum()
    }
}
