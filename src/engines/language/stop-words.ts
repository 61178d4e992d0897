/** English words that say nothing about the subject of a text. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above according across actually after again against ain all almost along already also although always am among an and
another any anybody anyone anything anyway are aren around as at away b back be became because become been before behind being
below beside besides best better between beyond both but by c came can cannot come comes could couldn d did didn do does doesn
doing done don down due during e each either else enough especially etc even ever every everybody everyone everything f far few
first for from further g gave get gets getting give given gives go goes going gone got h had hadn has hasn have haven having he
hence her here hers herself him himself his how however i if in indeed instead into is isn it its itself j just k keep kept kind
l last later least less let like likely ll lot m made make makes making many may maybe me mean might mine more moreover most
mostly much must my myself n near nearly need needs neither never new next no nobody none nor not nothing now o of off often oh
ok okay old on once one ones only onto or other others otherwise our ours ourselves out over own p perhaps please put q quite r
rather re really right s said same saw say says second see seem seemed seems seen several shall she should shouldn since so some
somebody someone something sometimes soon still such t take taken takes tell than thank thanks that the their theirs them
themselves then there therefore these they thing things think this those though three through thus till to today together told
tomorrow too took toward towards two u under unless until up upon us use used uses using usually v ve very via w want wanted
wants was wasn way we well went were weren what whatever when where whether which while who whole whom whose why will with within
without won would wouldn x y yes yesterday yet you your yours yourself yourselves z`.split(/\s+/),
)

/** Titles, greetings and currency codes: even capitalised they are not names. */
export const NO_NAMES: ReadonlySet<string> = new Set(
  `mr mrs ms mx miss messrs sir sirs madam ma'am dear hello hallo hi hey bye goodbye cheers greetings regards sincerely faithfully
sorry thx eur usd gbp chf pln czk sek nok dkk cad aud jpy cny`.split(/\s+/),
)
/** Answers and words in the headings of letters: alone they are not names. */
export const NO_NAMES_ALONE: ReadonlySet<string> = new Set(
  `good great fine perfect nice cool sure agreed done held sorted correct welcome wow complaint refund reminder invoice purchasing
accounting warehouse shipping delivery payment order subject attention missing received checked packed offer quote reply notice sales
customer agent buyer seller`.split(/\s+/),
)

/** Abbreviations of common nouns: even in capitals they are not names. */
export const SHORT_FORMS: ReadonlySet<string> = new Set('vat gst iban bic id ids faq eta asap pdf'.split(' '))
