/** What stands in place of a phrase: a word whose valence says what the phrase says. */
type Stand = readonly [phrase: RegExp, word: string]

const PRAISED = ' worthwhile '
const BLAMED = ' unsatisfied '
/** What a reply or a parcel is called where it is thanked for as a matter of form. */
const MAIL =
  '(?:message|mail|e-?mail|reply|answer|response|letter|note|inquiry|enquiry|order|time|patience|understanding|attention|cooperation|interest)'
const GREETED =
  '(?:team|all|both|everyone|customer service|customers?|colleagues?|sirs?|madam|sir or madam|mr|mrs|ms|dr|prof|\\p{Lu})'

/** Forms of courtesy: they carry no mood. */
const COURTESY: readonly RegExp[] = [
  new RegExp(`^\\s*[Dd]ear (?=${GREETED})`, 'gu'),
  /^\s*(?:good (?:morning|afternoon|evening|day)|greetings)(?!\p{L})/giu,
  /\b(?:(?:with )?(?:my |our )?(?:(?:very )?(?:kind|best|warm|friendly|sincere)(?:est)?|many|with) (?:regards|wishes|greetings)|yours (?:sincerely|faithfully|truly)|sincerely yours|respectfully)\b/giu,
  /^\s*(?:sincerely|best|cheers|respectfully|thanks|thank you|many thanks),?\s*$/giu,
  /\b(?:many thanks|thanks|thank you)(?: very much| so much)?(?: already)? in advance\b/giu,
  new RegExp(
    `\\b(?:many thanks|thanks|thank you)(?: very much)? for (?:your|the) (?:\\p{L}{1,20} ){0,2}${MAIL}\\b`,
    'giu',
  ),
  /\b(?:i|we) (?:would|should|'d)(?: very much| really)? (?:appreciate|be (?:grateful|glad|pleased|happy|thankful))\b/giu,
  /\b(?:i|we) (?:hope (?:this (?:mail|message|letter) finds you|you are(?: doing)?|that you are) well|look forward to (?:your|hearing|receiving))\b/giu,
]

const BUY =
  '(?:buy|buying|order|ordering|purchase|purchasing|shop|shopping|use|using|book|booking|visit|visiting|return|returning|come back|coming back|go back|going back|hire|hiring|choose|recommend)'
const AGAIN = `(?: be)? ${BUY}(?: [\\p{L}'\\u2019]{1,20}){0,5} again\\b`
const WOULD =
  "(?:would|will|shall|going to|'ll|\\u2019ll)(?: (?:definitely|certainly|happily|gladly|absolutely|always|surely|be|all)){0,2}"
const NOT =
  "(?:(?:would|will|shall|could|can|do|am|are|is)(?:n['\\u2019]?t| not)|won['\\u2019]?t|can(?:no|['\\u2019]?)t|never|not)(?: (?:definitely|certainly|ever|be|going to|want to|plan to)){0,2}"
const THING = '(?:version|model|one|edition|product|design|recipe|packaging|shop|quality|app|website|supplier)'

/** What would be, or once was, better is not good now. */
const UNREAL: readonly Stand[] = [
  [/\b(?:nothing|nobody) could (?:be|have been|do|have done)(?: any| it)? better\b/giu, PRAISED],
  [
    /\bcould(?: not|n['\u2019]?t) have (?:expected|asked for|wished for|hoped for|wanted)(?: any| anything)? (?:more|better)\b/giu,
    PRAISED,
  ],
  [/\bcould not (?=have|be)/giu, 'couldnt '],
  [/\b(?:just |only )?want(?:ed)? to (?:say|tell|let|thank|share)\b/giu, ' say '],
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
  [/\b(?:used to be|was once|were once|once was)(?: \p{L}{1,20})? (?:better|nicer)\b/giu, BLAMED],
  [/\b(?:have|had|'ve) (?:seen|had|known) (?:much |far )?better\b/giu, BLAMED],
  [
    /(?<!have )\b(?:expect(?:ed)?|hop(?:ed|ing) for)(?: \p{L}{1,20}){0,2} (?:more|better)(?= (?:for|from|of|at|given)\b| ?[.,!;]|\s*$)/giu,
    BLAMED,
  ],
  [/\bdeserve[sd]?(?: \p{L}{1,20})? better\b/giu, BLAMED],
]

/** Whether a customer comes back, and what a customer asks for who is angry. */
const VERDICTS: readonly Stand[] = [
  [/\b(?:to|on|upon) (?:even )?(?:my|your) worst enem(?:y|ies)\b/giu, ' '],
  [new RegExp(`\\b${NOT}${AGAIN}`, 'giu'), BLAMED],
  [/\bnever again\b/giu, BLAMED],
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
    BLAMED,
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

/** Scores in stars or points: at the beginning of a sentence, or behind a word that gives them. */
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
const STARS =
  /(?=\d|zero|no|one|two|three|four|five)(?<=^[^\p{L}\p{N}]*|\b(?:give|gave|giving|given|rate|rated|deserves?|only|just|gets?|from me|rating|overall):? (?:it |this |them |you |an? |only |just )?)(\d(?:[.,]\d)?|zero|no|one|two|three|four|five)[ -]stars?\b(?! (?:hotel|resort|restaurant|general|rated))/giu
const SIGNS = /\u2605{1,5}\u2606{0,4}|\u2b50{1,5}/gu
const NOTHING =
  /\b(?:give|gave|giving|rate)(?: it| this| them| you)? (?:zero|0|no stars?|nothing|fewer than (?:one|1) star|less than (?:one|1) star|minus)\b(?: stars?)?/giu
const IF_ONLY = /\b(?:give|gave|giving)(?: it| this| them)? (?:more|ten|10|six|6|100) (?:stars )?if\b/giu

/** A sentence with words of a known mood in place of what customers say in phrases and scores, and without forms of courtesy. */
export function plainly(sentence: string): string {
  if (!/[\p{L}\p{N}\u2605\u2b50]/u.test(sentence)) return sentence
  let plain = sentence
  for (const form of COURTESY) plain = plain.replaceAll(form, ' ')
  for (const [phrase, word] of [...UNREAL, ...VERDICTS]) plain = plain.replaceAll(phrase, word)
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

/** A word as good as a part of the points that could be given; three stars of five say nothing. */
function wordOf(part: number): string {
  if (part > 1) return ' '
  if (part > 0.85) return ' excellent '
  if (part > 0.65) return ' worthwhile '
  return part > 0.5 ? ' ' : part > 0.35 ? ' unsatisfied ' : ' terrible '
}

/** Praise that opens with "Oh", or that goes before "another" or "again": with something bad beside it, it is meant the other way round. */
const IRONY =
  /^\W*(?:(?:oh|yay|ah|yeah|well),? (?:(?:how|just|that['\u2019]s|absolutely|so) )?(?:great|wonderful|fantastic|brilliant|lovely|perfect|awesome|nice|super|good|excellent|marvellous|terrific|joy)[,.!\u2026]|(?:just |how )?(?:great|wonderful|fantastic|brilliant|lovely|perfect|awesome|nice|super|excellent|terrific|congratulations|bravo|well done)[,.!]+ (?:yet )?another\b|(?:just |exactly )?what i (?:always )?(?:needed|wanted): )/iu

/** Whether a sentence sounds ironic. Only where it is plain: most irony is not told from praise. */
export function isIronic(sentence: string): boolean {
  return IRONY.test(sentence)
}
