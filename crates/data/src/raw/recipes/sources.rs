//! Sources of the raw files: addresses at a pinned revision, size and digest.

use super::{Address, Pin, Source};
use crate::raw::archive::{Members, Unpack};

/// A file of a repository, from where GitHub serves it.
macro_rules! github_raw {
    ($repository:literal, $commit:literal, $path:literal) => {
        concat!("https://raw.githubusercontent.com/", $repository, "/", $commit, "/", $path)
    };
}

/// The same, from a content delivery network that keeps what was asked for before.
macro_rules! github_cdn {
    ($repository:literal, $commit:literal, $path:literal) => {
        concat!("https://cdn.jsdelivr.net/gh/", $repository, "@", $commit, "/", $path)
    };
}

/// A whole repository.
macro_rules! github_archive {
    ($repository:literal, $commit:literal) => {
        concat!("https://codeload.github.com/", $repository, "/tar.gz/", $commit)
    };
}

/// Single files of repositories, one a line: name of the source, file, repository, commit, path, bytes, sha256, other places.
macro_rules! github_files {
    ($($source:ident $name:literal $repository:literal $commit:literal $path:literal $bytes:literal $sha256:literal
        $(also $url:literal by $unpack:expr)?;)*) => {
        $(pub(super) static $source: Source = Source {
            addresses: &[
                Address { url: github_raw!($repository, $commit, $path), unpack: Unpack::File($name) },
                Address { url: github_cdn!($repository, $commit, $path), unpack: Unpack::File($name) },
                $(Address { url: $url, unpack: $unpack },)?
            ],
            bytes: $bytes,
            pin: Pin::Files($sha256),
        };)*
    };
}

#[rustfmt::skip]
github_files! {
    STS_TRAIN "sts-train.csv" "aivilmo/textual-similarity" "3fe0911a2e267b1cd7b2602c095c402ebadf4271" "stsbenchmark/sts-train.csv" 906_922 "d52e1db23c2483099f2ff4d9cd80a0f98be6438748b65e21f2f2244da0164ab1" also "http://ixa2.si.ehu.eus/stswiki/images/4/48/Stsbenchmark.tar.gz" by Unpack::TarGz(Members { below: &["sts-train.csv"], ending: "" });
    STS_DEV "sts-dev.csv" "aivilmo/textual-similarity" "3fe0911a2e267b1cd7b2602c095c402ebadf4271" "stsbenchmark/sts-dev.csv" 255_680 "5d7e944d8b02734b07bfdb5df67db3420c64bed153fcaa1ba47ad03480cf4234" also "http://ixa2.si.ehu.eus/stswiki/images/4/48/Stsbenchmark.tar.gz" by Unpack::TarGz(Members { below: &["sts-dev.csv"], ending: "" });
    STS_TEST "sts-test.csv" "aivilmo/textual-similarity" "3fe0911a2e267b1cd7b2602c095c402ebadf4271" "stsbenchmark/sts-test.csv" 282_419 "affe45928a66ee5a708531233c95b7dacbbdc57f974f002a3d32ea0180cf816a" also "http://ixa2.si.ehu.eus/stswiki/images/4/48/Stsbenchmark.tar.gz" by Unpack::TarGz(Members { below: &["sts-test.csv"], ending: "" });
    MSR_TRAIN "msr-para-train.tsv" "brmson/dataset-sts" "e1d3375f5b3bc24f21aa4e46f96eb379e9fc1081" "data/para/msr/msr-para-train.tsv" 900_305 "446b9a5fa4e8d526b99f1d635f036f89063749783f5d3464ee8c1879724d406d";
    MSR_VAL "msr-para-val.tsv" "brmson/dataset-sts" "e1d3375f5b3bc24f21aa4e46f96eb379e9fc1081" "data/para/msr/msr-para-val.tsv" 126_482 "7e5d0ee4ec392b062af73c7cffe82f0725e5b08f6bfdf0915f31bbc470b8bacf";
    MSR_TEST "msr-para-test.tsv" "brmson/dataset-sts" "e1d3375f5b3bc24f21aa4e46f96eb379e9fc1081" "data/para/msr/msr-para-test.tsv" 432_882 "51a1f197d8786712d2f0d97700f5be653b7488a96cde00e158159350d23e3d90";
    GLUE_MRPC_TRAIN "glue-train.tsv" "ju-resplande/PLUE" "7603970b7aa43b91ce5f0841aa42e6770dd6369f" "datasets/MRPC/train.tsv" 1_011_446 "706a13b3405a0a4ff990bbeed6a87fc9a1ab344b624f77cf74cc9cc317b35b94";
    GLUE_MRPC_DEV "glue-dev.tsv" "ju-resplande/PLUE" "7603970b7aa43b91ce5f0841aa42e6770dd6369f" "datasets/MRPC/dev.tsv" 114_080 "3f8466b8d8b8888b07b8617e5522917091d0290182c773f86d552377a593ad9a";
    RTE_TRAIN "train.tsv" "Ji-Yishan/MIEC-FYP" "250635701007f7f2dc00b63ce2cbc3dfe104b4e0" "RTE/train.tsv" 821_301 "0222fd1ea26f263d325d28f5bf5cee4c58dd91cf15f1efa87f79eb714a991dc4";
    RTE_DEV "dev.tsv" "Ji-Yishan/MIEC-FYP" "250635701007f7f2dc00b63ce2cbc3dfe104b4e0" "RTE/dev.tsv" 87_587 "e7e42b7ee79c36ebd780ebbdba525b939017da4ef9624c9e78b9ac2e69e36c28";
    RTE_TEST "test.tsv" "Ji-Yishan/MIEC-FYP" "250635701007f7f2dc00b63ce2cbc3dfe104b4e0" "RTE/test.tsv" 945_660 "e9bf6d2768eccbccfbd775fac3b8ff50283ecdef4b57caccdd694e17fa95250e";
    TWEETS "all_twitter_by_line.txt" "mkusner/wmd" "8522da3231cacbe91f94bad95651372bdf03762c" "all_twitter_by_line.txt" 277_393 "fede45a913a2ab6e6035428c37b88c7bbfe454275cc4b439997fa86f370a4623";
    BOOKS_NEGATIVE "books/negative.review" "muko034/sentiment-prediction" "d01bfa53354a626230bfeba806f4aaad23a7a5e5" "data/xml/books/negative.review" 1_537_906 "7de022081e9224362421fbe3c87da2e4f4aaeaa3b9d265de7ec05628f8ccbdbe";
    BOOKS_POSITIVE "books/positive.review" "muko034/sentiment-prediction" "d01bfa53354a626230bfeba806f4aaad23a7a5e5" "data/xml/books/positive.review" 1_510_157 "ec93aec14e3c844901c5322c1e843afe9c2e47449dc004f9bcf362ea49ba4962";
    DVD_NEGATIVE "dvd/negative.review" "muko034/sentiment-prediction" "d01bfa53354a626230bfeba806f4aaad23a7a5e5" "data/xml/dvd/negative.review" 1_590_236 "9e0494aadc0f82947b59d5cf9ca9f04425e1492337da9cddf89b7522cb035f8a";
    DVD_POSITIVE "dvd/positive.review" "muko034/sentiment-prediction" "d01bfa53354a626230bfeba806f4aaad23a7a5e5" "data/xml/dvd/positive.review" 1_697_346 "072a71a1e1e7b4fd10e607d47b79c498634886b0c100c547b0c527eb3422f4c8";
    ELECTRONICS_NEGATIVE "electronics/negative.review" "muko034/sentiment-prediction" "d01bfa53354a626230bfeba806f4aaad23a7a5e5" "data/xml/electronics/negative.review" 1_113_902 "f420712d202ce5638f51771fcadf4735dc1fd9249ebef057f3a0ef17430ccd2e";
    ELECTRONICS_POSITIVE "electronics/positive.review" "muko034/sentiment-prediction" "d01bfa53354a626230bfeba806f4aaad23a7a5e5" "data/xml/electronics/positive.review" 1_105_422 "3322c9d0d5f3db3f8aac92bdc4e8a5722bdebc568825d2494bb11b189131e14c";
    KITCHEN_NEGATIVE "kitchen/negative.review" "muko034/sentiment-prediction" "d01bfa53354a626230bfeba806f4aaad23a7a5e5" "data/xml/kitchen/negative.review" 1_028_617 "6daa34aebfe7e468af5c3c572ef2d80cc27ba5c518f695dbff23d786b381e6d4";
    KITCHEN_POSITIVE "kitchen/positive.review" "muko034/sentiment-prediction" "d01bfa53354a626230bfeba806f4aaad23a7a5e5" "data/xml/kitchen/positive.review" 1_027_501 "59fd00bcad4ef1eb2b2079adcc7ebc44ddfcae77dc39999b19b5a5ed184535b4";
    CACM "cacm.all" "cw417/inverted-index-search" "6461457e5ea7f8578cc8cdda1eff1ffa68e1389d" "cacm.all" 2_187_735 "ac03f89f9a7ff22293654baec71a426a31545cb852f8a9ef49f33e021da6e2a1";
    CISI "CISI.ALL" "PsychoProg/tf-idf" "beee251dd1356ee4ffb453ac60cf8f9112840f5d" "CISI.ALL" 2_119_354 "c751e11dcdce83a572a4fcfd67eea453bdb9ecfd7bc93c21e50fc792ba8fb9a0";
    CRAN "cran.all.1400" "Chetan-Prasad/IR-Lucene_Cran" "ff1bd825c1781e908fdcb8a20609ef779abb3d2a" "cran.all.1400" 1_644_707 "73d33d7e445b884bc32332034e7bc7d07ad5089d9030ead9f1de3493da21da1d";
    MED "MED.ALL" "adaxu91/lucene-searching" "ed60ce40f8bd9a0ec864f1c364b68a470d787c6c" "MED.ALL" 1_091_396 "3935bb781ee3f34c91dec4401281b29899143101549e436cf45ed540de399d33";
    GLOVE_HEAD "glove-head.txt" "PymatFlow/project2" "21f46b7e73bf40c503f394ff93811405d364e4ba" "glove.6B.50d.txt" 1_048_230 "e9b37f6527ce21d19277b153bd03711525e54f96473ce9731cbf23cd0b259676";
    GLOVE_TAIL "glove-tail.txt" "javid202226/query-reformstion-system" "459a85c68fc090f38a167864c7410ac010cd7962" "glove.6B.50d.txt" 2_309_596 "6690d2c807a1990b94008c3eb465a1915d6a425e86acdd4fa6168c408dee4eb2";
    ECB_SENTENCES "ECBplus_coreference_sentences.csv" "tommasoc80/EventStoryLine" "46edefee5e82e0917b823abe0a18bf8c7770f15c" "ECB+_LREC2014/ECBplus_coreference_sentences.csv" 23_008 "afee49e0f5fe5084eec690e934aaade842d5eeff7a5704a36f59e7a49505f434";
    FORUM_PART2 "SemEval2016-Task3-CQA-QL-train-part2-subtaskA.xml" "bnsriram/NLPCommunityQuestionAnswering" "8e89aea3ad9f3157088acdbfc4955413d30ebb9d" "v3.2/train/SemEval2016-Task3-CQA-QL-train-part2-subtaskA.xml" 1_563_500 "2df4209306b54047849c3ba30d18413b4685b45d3700f4cdc17daa39e9ea4619";
    FORUM_DEV "SemEval2016-Task3-CQA-QL-dev-subtaskA.xml" "bnsriram/NLPCommunityQuestionAnswering" "8e89aea3ad9f3157088acdbfc4955413d30ebb9d" "v3.2/dev/SemEval2016-Task3-CQA-QL-dev-subtaskA.xml" 998_329 "a93659ab2ea7373fde86959edbc76d5ed713dc0ca758852d136838f7e85102a6";
    FORUM_2015DEV "SemEval2015-Task3-CQA-QL-dev-reformatted-excluding-2016-questions-cleansed.xml" "bnsriram/NLPCommunityQuestionAnswering" "8e89aea3ad9f3157088acdbfc4955413d30ebb9d" "v3.2/train-more-for-subtaskA-from-2015/SemEval2015-Task3-CQA-QL-dev-reformatted-excluding-2016-questions-cleansed.xml" 667_017 "93417473e2f43c644fb6289525e1977f5c8d255f3bace6fbfbdf952e66c15f87";
    FORUM_2015TEST "SemEval2015-Task3-CQA-QL-train-reformatted-excluding-2016-questions-cleansed.xml" "bnsriram/NLPCommunityQuestionAnswering" "8e89aea3ad9f3157088acdbfc4955413d30ebb9d" "v3.2/train-more-for-subtaskA-from-2015/SemEval2015-Task3-CQA-QL-train-reformatted-excluding-2016-questions-cleansed.xml" 809_680 "a26596cd9a220560c3bf1aee012e760697fc699b4d26cb489e1c3fc0e84b28ac";
    TREC_TRAIN "train_5500.coarse.klp.gz" "SAG-KeLP/kelp-full" "da68b9153e5fc8791f02bc89d160a682aeb3f0ca" "src/main/resources/qc/train_5500.coarse.klp.gz" 1_420_295 "ffae7694fc5664e228e4daf30bf17b93d987276e6c38cddca485a5a63beb0175";
    TREC_TEST "TREC_10.coarse.klp.gz" "SAG-KeLP/kelp-full" "da68b9153e5fc8791f02bc89d160a682aeb3f0ca" "src/main/resources/qc/TREC_10.coarse.klp.gz" 83_852 "f2d72def84ecd6907b38e711f421016352ba8233505bbb3c849a140a57cf18f4";
    CLINC "data_full.json" "clinc/oos-eval" "828f8093932c8fe6ca7936c3d2e52903b1c523de" "data/data_full.json" 2_495_390 "36923c3705a59e08fe9c3883d8bc2dd966ef93e22cb78ac41171782a698d56e0";
    CLINC_DOMAINS "domains.json" "clinc/oos-eval" "828f8093932c8fe6ca7936c3d2e52903b1c523de" "data/domains.json" 3_818 "b947b579d3b8e74b06f93b01083d8efaff2888b43a3e362533bd88a6e1211b3a";
    SNIPS_TRAIN_ADD_TO_PLAYLIST "train_AddToPlaylist_full.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/AddToPlaylist/train_AddToPlaylist_full.json" 833_810 "fee1b4645352e70ed8a40f1f87c3b53fc3bf75f8ebc82252a22b82c107e75b01";
    SNIPS_TEST_ADD_TO_PLAYLIST "validate_AddToPlaylist.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/AddToPlaylist/validate_AddToPlaylist.json" 44_160 "14cc9ee49ae477b1452632a6e835498cf4c32da397b16967c82abb3e50403e83";
    SNIPS_TRAIN_BOOK_RESTAURANT "train_BookRestaurant_full.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/BookRestaurant/train_BookRestaurant_full.json" 980_018 "7677e82cd6e9a8191f0a4502568c786278c984900b4796d3628e46f1abf73ef4";
    SNIPS_TEST_BOOK_RESTAURANT "validate_BookRestaurant.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/BookRestaurant/validate_BookRestaurant.json" 49_353 "4f7258ccc768b777b2eb8916532db9aa50dbd058ddf1ffb0dc59218963e7442a";
    SNIPS_TRAIN_GET_WEATHER "train_GetWeather_full.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/GetWeather/train_GetWeather_full.json" 743_646 "86f414b2ad8a993134d85d16e25e5d337beae47cef993c0af2a5f440405c60f6";
    SNIPS_TEST_GET_WEATHER "validate_GetWeather.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/GetWeather/validate_GetWeather.json" 39_612 "60c095e193655d6ca92be220fed3926ca25e18cd70c85664145efe25d80993af";
    SNIPS_TRAIN_PLAY_MUSIC "train_PlayMusic_full.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/PlayMusic/train_PlayMusic_full.json" 675_343 "901ddbe9781d1fdb8196e789c543f80df3d29ca6e237da64947905adcc0312e4";
    SNIPS_TEST_PLAY_MUSIC "validate_PlayMusic.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/PlayMusic/validate_PlayMusic.json" 33_122 "922212775e26259d5bffeaf79b6048d070ca017d229df00b2cc9800f71c75d20";
    SNIPS_TRAIN_RATE_BOOK "train_RateBook_full.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/RateBook/train_RateBook_full.json" 506_364 "bb43e4b74134300d5766f6b420d0357a63402987a225f6dc92c806c9c040ce04";
    SNIPS_TEST_RATE_BOOK "validate_RateBook.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/RateBook/validate_RateBook.json" 52_854 "c1f8b4114da0bb5e8afd78a8062766e18b2eabb0e717539598db01b09d04619b";
    SNIPS_TRAIN_SEARCH_CREATIVE_WORK "train_SearchCreativeWork_full.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/SearchCreativeWork/train_SearchCreativeWork_full.json" 292_392 "87b3432de48c71c205aa5238b41d9e3f2d70bdfcd0bea2427544fb9e4bd5e5bb";
    SNIPS_TEST_SEARCH_CREATIVE_WORK "validate_SearchCreativeWork.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/SearchCreativeWork/validate_SearchCreativeWork.json" 31_404 "8a5e830eddb185d3e4a9d27ded140a145d04766bdce0e58834676ede32d13e77";
    SNIPS_TRAIN_SEARCH_SCREENING_EVENT "train_SearchScreeningEvent_full.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/SearchScreeningEvent/train_SearchScreeningEvent_full.json" 364_989 "5447e9440c02e2fb08c3ae16b9f58a4d1332b4bc77fd34691402b02aa4399765";
    SNIPS_TEST_SEARCH_SCREENING_EVENT "validate_SearchScreeningEvent.json" "sonos/nlu-benchmark" "b86ac7f1577868c42158d0dec77db50956046696" "2017-06-custom-intent-engines/SearchScreeningEvent/validate_SearchScreeningEvent.json" 35_716 "81e1445713e03c7c3e615353c5f3fee05f369fe9834100b9b9735900a96b9498";
    ATIS_TRAIN "atis.train.w-intent.iob" "yvchen/JointSLU" "fad79658f343e98c1737fcfe563e76069b62f064" "data/atis.train.w-intent.iob" 900_059 "e0a1e3de978345b4fbfa4f2eefa8bb974460f0f7f38330e179ccaecc80d68178";
    ATIS_TEST "atis.test.w-intent.iob" "yvchen/JointSLU" "fad79658f343e98c1737fcfe563e76069b62f064" "data/atis.test.w-intent.iob" 153_924 "744bc272bce1c6a828df7b5580b47a4aee2ad2019e5d2376c348bea1c15f0d6e";
}

pub(super) static YUMMLY: Source = Source {
    addresses: &[
        Address {
            url: github_raw!(
                "jielulovesdessert/What-is-cooking",
                "c33094b6233d47380ed8941f24cf399ecd6b4025",
                "train.json.zip"
            ),
            unpack: Unpack::Zip(Members { below: &["train.json"], ending: "" }),
        },
        Address {
            url: github_cdn!(
                "jielulovesdessert/What-is-cooking",
                "c33094b6233d47380ed8941f24cf399ecd6b4025",
                "train.json.zip"
            ),
            unpack: Unpack::Zip(Members { below: &["train.json"], ending: "" }),
        },
    ],
    bytes: 1_888_039,
    pin: Pin::Files("f18e7e568d1c606774bfb134ece51ef0a143cd5069e6f9241bb6036b45b7d2b0"),
};
pub(super) static OHSUMED: Source = Source {
    addresses: &[Address {
        url: github_archive!("yao8839836/text_gcn", "962223652e9bb164ac2d83cd09fc7b8845ce860b"),
        unpack: Unpack::TarGz(Members { below: &["ohsumed_single_23"], ending: "" }),
    }],
    bytes: 300_000_000,
    pin: Pin::Files("fc5fbf916053d1b7c03ad13c57ac556ca38783d7b45c154dbb46a39f6f38754d"),
};
pub(super) static NEWSGROUPS: Source = Source {
    addresses: &[
        Address {
            url: "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
            unpack: Unpack::TarGz(Members { below: &["20news-bydate-train", "20news-bydate-test"], ending: "" }),
        },
        Address {
            url: github_archive!("yao8839836/text_gcn", "962223652e9bb164ac2d83cd09fc7b8845ce860b"),
            unpack: Unpack::TarGz(Members { below: &["20news-bydate-train", "20news-bydate-test"], ending: "" }),
        },
    ],
    bytes: 14_464_277,
    pin: Pin::Files("20701c5675b5327116388288aa3225c61bc1005708ccbda9bfb83c22891263d6"),
};
pub(super) static ECB_XML: Source = Source {
    addresses: &[
        Address {
            url: github_raw!(
                "tommasoc80/EventStoryLine",
                "46edefee5e82e0917b823abe0a18bf8c7770f15c",
                "ECB+_LREC2014/ECB+.zip"
            ),
            unpack: Unpack::Zip(Members { below: &["ECB+"], ending: ".xml" }),
        },
        Address {
            url: github_archive!("tommasoc80/EventStoryLine", "46edefee5e82e0917b823abe0a18bf8c7770f15c"),
            unpack: Unpack::TarGz(Members { below: &["ECB+"], ending: ".xml" }),
        },
    ],
    bytes: 5_000_000,
    pin: Pin::Files("6e33138eab327aca15f63849f8fb151b6ac8c13871ef1403f762801534617b5e"),
};
