import { type Thanks, withoutCourtesy } from './courtesy.ts'

/** A phrase, and a word of the same valence that replaces it. */
type Stand = readonly [phrase: RegExp, word: string]

const PRAISED = ' worthwhile '
const BLAMED = ' unsatisfied '
/** Like `BLAMED`, but without anger: a refund can be requested politely. */
const ASKED_BACK = ' unwanted '
const BUY =
  '(?:buy|buying|order|ordering|purchase|purchasing|shop|shopping|use|using|book|booking|visit|visiting|return|returning|come back|coming back|go back|going back|hire|hiring|choose|recommend)'
const AGAIN = `(?: be)? ${BUY}(?: [\\p{L}'\\u2019]{1,20}){0,5} again\\b`
const WOULD =
  "(?:would|will|shall|going to|'ll|\\u2019ll)(?: (?:definitely|certainly|happily|gladly|absolutely|always|surely|be|all)){0,2}"
const NOT =
  "(?:(?:would|will|shall|could|can|do|am|are|is)(?:n['\\u2019]?t| not)|won['\\u2019]?t|can(?:no|['\\u2019]?)t|never|not)(?: (?:definitely|certainly|ever|be|going to|want to|plan to)){0,2}"
const THING = '(?:version|model|one|edition|product|design|recipe|packaging|shop|quality|app|website|supplier)'

/** What could be better, or once was, is blamed. What could not be better is praised. */
const UNREAL: readonly Stand[] = [
  [/\b(?:nothing|nobody) could (?:be|have been|do|have done)(?: any| it)? better\b/giu, PRAISED],
  [
    /\bcould(?: not|n['\u2019]?t) have (?:expected|asked for|wished for|hoped for|wanted)(?: any| anything)? (?:more|better)\b/giu,
    PRAISED,
  ],
  [/\bcould not (?=have|be)/giu, 'couldnt '],
  [/\b(?:just |only )?want(?:s|ed)? to (?:say|tell|let|share)\b/giu, ' say '],
  [/\b(?:just |only )?want(?:s|ed)? to thank\b/giu, ' thank '],
  [
    /(?<!hardly )\b(?:could|should|might|ought to) (?:be|have been|do|have done)(?: a (?:lot|bit|little)| much| way| far| so much)? better\b/giu,
    BLAMED,
  ],
  [
    new RegExp(
      `\\b(?:(?:old|older|previous|former|original)(?: [\\p{L}-]{1,20}){0,2}|(?:first|last|earlier|other) ${THING}) (?:was|were|is|are|had been)(?: (?:so|much|far|way|a lot)){0,2} (?:better|nicer|sturdier|stronger)\\b`,
      'giu',
    ),
    BLAMED,
  ],
  [/\bwould (?:be|have been)(?: (?:much|even|far|a lot))? (?:better|nicer) (?:with|without|if|in|as)\b/giu, BLAMED],
  [/\b(?:used to be|was once|were once|once was)(?: \p{L}{1,20})? (?:better|nicer)\b/giu, BLAMED],
  [/\b(?:have|had|'ve) (?:seen|had|known) (?:much |far )?better\b/giu, BLAMED],
  [
    /(?<!have )\b(?:expect(?:ed)?|hop(?:ed|ing) for)(?: \p{L}{1,20}){0,2} (?:more|better)(?= (?:for|from|of|at|given)\b| ?[.,!;]|\s*$)/giu,
    BLAMED,
  ],
  [/\bdeserve[sd]?(?: \p{L}{1,20})? better\b/giu, BLAMED],
]

const EXPECTATION = "(?: (?!but\\b|and\\b)[\\p{L}'\\u2019]{1,20}){0,3} expectations?\\b"
const WORDS = "(?: [\\p{L}'\\u2019-]{1,20},?)"
/** "Than I had expected". */
const THAN_HOPED =
  "than (?:(?:i|we|you|one|anyone|originally|ever) ){0,2}(?:(?:had|could|would|ever|have|\\p{L}{1,6}['\\u2019]d) ){0,3}(?:expected|hoped|thought|imagined|dreamt|dreamed|expect|hope|imagine|anticipated)\\b(?: (?:it|for|of))?"

const EXPECTED: readonly Stand[] = [
  [
    new RegExp(
      `\\b(?:(?:fell|falls|fall|falling|came|comes) (?:far |well |way )?(?:short of|below)|(?:far |well |way )?below|disappoint(?:s|ed)?)${EXPECTATION}`,
      'giu',
    ),
    BLAMED,
  ],
  [
    new RegExp(
      `\\b(?:exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|meets?|met|beats?|live[sd]? up to|beyond|(?:far |well )?above|better than|more than met|outdid)${EXPECTATION}`,
      'giu',
    ),
    PRAISED,
  ],
  [
    new RegExp(
      `\\b(?:better|nicer|prettier|sturdier|faster|quicker|easier|more beautiful|more(?= than)|softer|lovelier)(?: \\p{L}{1,20})? ${THAN_HOPED}`,
      'giu',
    ),
    PRAISED,
  ],
  [new RegExp(`\\b(?:worse|poorer|smaller|thinner|slower|less(?: \\p{L}{1,20})?) ${THAN_HOPED}`, 'giu'), BLAMED],
  [new RegExp(`\\bexpectations?,?${WORDS}{0,5} (?:exceeded|surpassed|outdone)\\b`, 'giu'), PRAISED],
  [
    /\b(?:everything|all) (?:that )?(?:i|we)(?: had|['\u2019]d| have)? (?:(?:hoped|wished|asked|dreamed|dreamt)(?: for| of)?|wanted|needed|expected)\b/giu,
    PRAISED,
  ],
  [
    /\blive[sd]? up to (?:the|its|their|your|my|our|all the) (?:description|hype|name|promises?|photos?|pictures?|reviews?|price|reputation|advert|advertising|website)\b/giu,
    PRAISED,
  ],
  [
    /\bnot (?:at all |quite |really |exactly )?(?:what|as good as|as nice as) (?:i|we)(?: (?:had|was|were|have)|['\u2019]d)? (?:expect(?:ed|ing)?|hop(?:ed|ing) for|imagined|thought|hoped)\b/giu,
    BLAMED,
  ],
]

const SELLER =
  '(?:shops?|stores?|sellers?|suppliers?|compan(?:y|ies)|places?|websites?|sites?|makers?|brands?|potters?|workshops?|dealers?|competitors?|vendors?)'
const OTHER = `(?:(?:from|at|in|on|with|by) (?:an?other|a different|the other|other|different|some other|many other|most other|your)(?: \\p{L}{1,20})? ${SELLER}\\b|elsewhere|somewhere else|anywhere else|(?:on|from|at) (?:amazon|ebay|etsy|temu)\\b)`
/** A comparison ends at words that introduce another thing. */
const ON =
  "(?: (?!(?:than|but|yet|yours?|here|this|these|that|so|until|before|unlike)\\b)[\\p{L}\\d'\\u2019%-]{1,20},?)"
const SUPERIOR =
  '(?:better|cheaper|nicer|prettier|sturdier|stronger|faster|lovelier|for less|half (?:the|that|of the) (?:price|cost|money)|half as much|a (?:third|quarter|fraction) of (?:the|that) (?:price|cost)|at a lower price|a lower price)'

/** A purchase that the customer regrets is blamed, one that came too late is praised. */
const ELSEWHERE: readonly Stand[] = [
  [new RegExp(`\\b${SUPERIOR}${ON}{0,6} ${OTHER}`, 'giu'), BLAMED],
  [
    new RegExp(
      `\\b(?:bought|buy|got|get|found|find|ordered|order|saw|seen|see|have|had|purchased)(?! better)${ON}{0,6} ${OTHER}${ON}{0,12} ${SUPERIOR}\\b(?: made)?`,
      'giu',
    ),
    BLAMED,
  ],
  [
    new RegExp(`\\bshould(?: have|['\\u2019]ve) (?:bought|ordered|gone|got|looked|shopped)${ON}{0,6} ${OTHER}`, 'giu'),
    BLAMED,
  ],
  [
    /\bshould (?:have never|never have|not have)(?: \p{L}{1,20})? (?:bought|ordered|trusted|paid|gone|chosen|come)\b/giu,
    BLAMED,
  ],
  [new RegExp(`\\bother ${SELLER}${ON}{0,8} ${SUPERIOR}\\b`, 'giu'), BLAMED],
  [
    /\b(?:go|look|shop|buy|try|order|business|custom)(?: \p{L}{1,20})? (?:elsewhere|somewhere else|anywhere else)\b/giu,
    BLAMED,
  ],
  [/\b(?:save|keep) your money\b/giu, BLAMED],
  [
    /\b(?:paid|pays?|costs?)(?: (?:only|just|about|less than))? (?:half|less|a (?:third|quarter|fraction)|much less)(?: (?:as much|the price|the money|of (?:that|it|the price)))? for the same\b/giu,
    BLAMED,
  ],
  [
    /\bonly (?:regret|complaint|criticism|downside|fault)(?: \p{L}{1,20})? (?:is|was)(?: that)? (?:i|we) (?:did not|didn['\u2019]?t|have not|haven['\u2019]?t|had not|hadn['\u2019]?t)\b/giu,
    PRAISED,
  ],
  [/\bif only (?:i|we)(?: had|['\u2019]d)\b(?! (?:found|known|discovered) (?:it|you|this|them|about) )/giu, BLAMED],
  [
    /\bwish(?:ed)?(?: that)? (?:i|we)(?:(?: had|['\u2019]d) (?:not|never)| hadn['\u2019]?t| never(?: had)?| did not| didn['\u2019]?t)(?: (?:ever|even))?(?: (?:bought|ordered|wasted|spent|paid|chosen|trusted|gone|come|purchased|got|booked|found))?/giu,
    BLAMED,
  ],
  [
    /\bwish(?:ed)?(?: that)? (?:i|we)(?: had|['\u2019]d) (?:(?:bought|ordered|found|known|come|discovered|got|tried|done|visited|booked)(?: (?!of\b|not\b|about\b)[\p{L}'\u2019]{1,20}){0,4} (?:sooner|earlier|years ago|long ago|before|more|two|another)\b)/giu,
    PRAISED,
  ],
  [
    new RegExp(
      `\\b(?:(?:nobody|no one|nowhere) else|no other ${SELLER})${WORDS}{0,5} (?:as|so) (?:\\p{L}{1,15}ly|good|nice|beautiful|well|fast|cheap)\\b`,
      'giu',
    ),
    PRAISED,
  ],
]

/** Whether a customer will return, and what angry customers demand. */
const VERDICTS: readonly Stand[] = [
  [/\b(?:to|on|upon) (?:even )?(?:my|your) worst enem(?:y|ies)\b/giu, ' '],
  [new RegExp(`\\b${NOT}${AGAIN}`, 'giu'), BLAMED],
  [/\bnever again\b/giu, BLAMED],
  [/\b(?:is|are|was|were) (?:still |also |again )?missing\b(?! (?:you|me|him|her|them)\b)/giu, BLAMED],
  [new RegExp(`\\b${WOULD}${AGAIN}`, 'giu'), PRAISED],
  [
    /\bnot (?:at all )?(?:as (?:described|advertised|pictured|promised|ordered)|what (?:i|we) (?:ordered|bought|paid for))\b/giu,
    BLAMED,
  ],
  [/\b(?:exactly|just|precisely) as (?:described|advertised|pictured|promised|ordered)\b/giu, PRAISED],
  [/\bthanks? (?:you )?for nothing\b/giu, BLAMED],
  [/\b(?:speak|talk)(?:ing)? (?:to|with) (?:a|the|your) (?:manager|supervisor|boss|lawyer)\b/giu, BLAMED],
  [
    /\b(?:where is|where are|where's|still (?:waiting|no)) (?:for )?(?:my|our|the) (?:order|parcel|package|delivery|money|refund|reply|answer)\b/giu,
    BLAMED,
  ],
  [
    /\b(?:nobody|no one|no-one) (?:has )?(?:answer(?:s|ed)|repl(?:ies|ied)|respond(?:s|ed)|call(?:s|ed) back)\b/giu,
    BLAMED,
  ],
  [/\b(?:why has|has) (?:nobody|no one) (?:answered|replied|responded)\b/giu, BLAMED],
  [
    /\b(?:want|demand|request|require|ask(?:ing)? for|insist on|need|expect|arrange|appreciate|issue|give me|send me|waiting for|claim)(?: (?:a|an|my|our|the|for|full|immediate|partial|prompt)){0,3} (?:refund|money back)\b/giu,
    ASKED_BACK,
  ],
  [/\brefund by\b/giu, BLAMED],
  [/\bcharge[sd]?(?: [^\s,;]{1,20}){0,5},? (?:although|even though|but|instead of)\b/giu, BLAMED],
  [/\bagreed (?:on|upon|to)\b/giu, ' '],
  [/\bwithh(?:old|eld|olding)(?: \p{L}{1,20}){0,2} payments?\b/giu, BLAMED],
  [/\b(?:came|comes|fell|falls|peeled|peels|broke|breaks) (?:off|apart)\b/giu, BLAMED],
  [
    /\b(?:does not|doesn['\u2019]?t|did not|didn['\u2019]?t|never|stopped|stops|no longer|has not|hasn['\u2019]?t) (?:work(?:s|ed|ing)?|arrive[sd]?|turn(?:s|ed)? up)\b/giu,
    BLAMED,
  ],
]

const NUMBERS: ReadonlyMap<string, number> = new Map([
  ['zero', 0],
  ['no', 0],
  ['one', 1],
  ['two', 2],
  ['three', 3],
  ['four', 4],
  ['five', 5],
])
const SCORE = /(?<![\d/.,])(\d{1,2}(?:[.,]\d)?) ?(?:\/|out of) ?(5|10)(?![\d/]|[.,]\d| of\b|\p{L})/giu
/** Stars count only at the start of a sentence or after a word such as "give". */
const STARS =
  /(?=\d|zero|no|one|two|three|four|five)(?<=^[^\p{L}\p{N}]*|\b(?:give|gave|giving|given|rate|rated|deserves?|only|just|gets?|from me|rating|overall):? (?:it |this |them |you |an? |only |just )?)(\d(?:[.,]\d)?|zero|no|one|two|three|four|five)[ -]stars?\b(?! (?:hotel|resort|restaurant|general|rated))/giu
const SIGNS = /\u2605{1,5}\u2606{0,4}|\u2b50{1,5}/gu
const NOTHING =
  /\b(?:give|gave|giving|rate)(?: it| this| them| you)? (?:zero|0|no stars?|nothing|fewer than (?:one|1) star|less than (?:one|1) star|minus)\b(?: stars?)?/giu
const IF_ONLY = /\b(?:give|gave|giving)(?: it| this| them)? (?:more|ten|10|six|6|100) (?:stars )?if\b/giu

const STANDS: readonly Stand[] = [...EXPECTED, ...ELSEWHERE, ...UNREAL, ...VERDICTS]

/** Replaces phrases and scores of customers by words of known mood, and removes forms of courtesy. */
export function plainly(sentence: string, thanks: Thanks): string {
  if (!/[\p{L}\p{N}\u2605\u2b50]/u.test(sentence)) return sentence
  let plain = withoutCourtesy(sentence, thanks)
  for (const [phrase, word] of STANDS) plain = plain.replaceAll(phrase, word)
  return withScores(plain)
}

function withScores(sentence: string): string {
  return sentence
    .replaceAll(IF_ONLY, ' excellent if')
    .replaceAll(NOTHING, ' terrible ')
    .replaceAll(SCORE, (_, points: string, most: string) => wordOf(numberOf(points) / Number(most)))
    .replaceAll(STARS, (_, stars: string) => wordOf(numberOf(stars) / 5))
    .replaceAll(SIGNS, (signs) => wordOf((signs.match(/[\u2605\u2b50]/gu)?.length ?? 0) / 5))
}

function numberOf(written: string): number {
  return NUMBERS.get(written.toLowerCase()) ?? Number(written.replace(',', '.'))
}

/** Three stars of five are neutral. */
function wordOf(part: number): string {
  if (part > 1) return ' '
  if (part > 0.85) return ' excellent '
  if (part > 0.65) return ' worthwhile '
  return part > 0.5 ? ' ' : part > 0.35 ? ' unsatisfied ' : ' terrible '
}

/** Praise after "Oh" or the like, praise before "another", and "what I needed:". */
const IRONY =
  /^\W*(?:(?:oh|yay|ah|yeah|well),? (?:(?:how|just|that['\u2019]s|absolutely|so) )?(?:great|wonderful|fantastic|brilliant|lovely|perfect|awesome|nice|super|good|excellent|marvellous|terrific|joy)[,.!\u2026]|(?:just |how )?(?:great|wonderful|fantastic|brilliant|lovely|perfect|awesome|nice|super|excellent|terrific|congratulations|bravo|well done)[,.!]+ (?:yet )?another\b|(?:just |exactly )?what i (?:always )?(?:needed|wanted): )/iu

/** Most irony cannot be told from praise. */
export function isIronic(sentence: string): boolean {
  return IRONY.test(sentence)
}
