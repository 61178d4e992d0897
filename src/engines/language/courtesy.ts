/** Objects of formal thanks, such as a reply or an order. */
const MAIL =
  '(?:messages?|mails?|e-?mails?|reply|replies|answers?|response|letter|note|inquiry|enquiry|order|purchase|time|trouble|patience|understanding|attention|cooperation|consideration|interest|information|info|update|invoice|confirmation|offer|quote|details|photos?|call)'
const GREETED =
  "(?:team|all|both|everyone|customer service|customers?|colleagues?|sirs?|madam|sir or madam|mr|mrs|ms|dr|prof|\\p{Lu}|(?:[\\p{L}\\u2019'.-]{1,20} ){0,3}[\\p{L}\\u2019'.-]{1,20}(?:,|\\s*$))"
const ADJECTIVE =
  '(?:very |most |so )?(?:kind|prompt|quick|speedy|swift|fast|early|friendly|good|valued|warm|helpful|nice|esteemed)'
/** With such a word, thanks are sincere: "thanks for the lovely message". */
const PRAISING =
  '(?:beautiful|lovely|wonderful|gorgeous|fantastic|amazing|great|excellent|perfect|superb|brilliant|awesome)\\b'
/** "I would", "we'd". */
const I_WOULD = "(?:(?:i|we) (?:would|should)|(?:i|we)['\\u2019]d)"
const AM =
  "(?:(?:i|we) (?:am|are|would be|will be|['\\u2019]?ll be)|i['\\u2019]m|we['\\u2019]re|(?:i|we)['\\u2019](?:d|ll) be)"
const LOUDER = '(?: (?:very much|very|really|so|most|more than|quite|rather|also|always|only|just|still|now|both|all))'

/** A name that ends the thanks: "Thanks, Anna", "Thank you Mr Falk". */
const NAMED = "(?:,? (?:(?:Mr|Mrs|Ms|Dr)\\.? )?(?!I\\b)\\p{Lu}[\\p{L}\\p{M}'\\u2019.-]{0,25}){0,3}"
/** No reason for the thanks follows. */
const BARE_END = `(?=${NAMED}\\s*(?:$|[.,;:!?)\\u2014\\u2013-]|(?:and|but|from) ))`
/** "I want to say thank you", "a big thank you": more than a formality. */
const NOT_SAID = '(?<!\\p{L})(?<!\\b(?:say|says|said|saying|a|big|huge|special|heartfelt|sincere|my|our|our sincere) )'
const THANKS =
  '(?:(?:[Vv]ery )?(?:[Mm]any|[Bb]est|[Kk]ind|[Ww]arm) thanks|[Tt]hanks|[Tt]hank (?:you|u)|[Tt]hx|[Mm]uch obliged)'
const MORE_THANKS =
  '(?: (?:very much|kindly|again|already|anyway|all|both|in advance|in anticipation|sir|madam|ma\\u2019am|guys)){0,3}'
const MUCH_THANKS = '(?: (?:so much|so very much|ever so much|a lot|a million|a bunch))'

const bareThanks = (louder: string): RegExp =>
  new RegExp(`${NOT_SAID}${THANKS}${louder}${MORE_THANKS}${BARE_END}`, 'gu')

const SIGNED = "(?: \\p{Lu}[\\p{L}.'\\u2019-]{0,25}){1,3}\\W*$"

/** Forms of courtesy carry no mood. */
const FORMS: readonly RegExp[] = [
  new RegExp(`^\\s*[Dd]ear (?=${GREETED})`, 'gu'),
  /(?<=, |\band )[Dd]ear (?=\p{Lu})/gu,
  /(?<=^|^[\p{L} ]{0,30}, ?|^\s*(?:hi|hello|hey) )\s*(?:good (?:morning|afternoon|evening|day)|greetings)(?!\p{L})/giu,
  /\b(?:(?:with )?(?:my |our )?(?:(?:very )?(?:kind|best|warm|friendly|sincere|good)(?:est)?|many|with) (?:regards|wishes|greetings)|all (?:the )?best(?=\s*$|[,.!])|yours(?: very)? (?:sincerely|faithfully|truly|gratefully|respectfully)|(?:i|we) remain yours|sincerely yours|thanking you(?: (?:in advance|in anticipation|again|kindly|for your (?:help|time|attention|reply|assistance)))?|(?:with|my|our) (?:many |sincere |best )?thanks(?=\s*$|,)|god bless(?: you)?(?=\s*$|[,.!])|sincer(?:e|est) apologies|respectfully|with (?:all due )?respect)\b/giu,
  /(?<=[.!?,] ?)(?:sincerely|best|warmly|cheers|respectfully|take care)(?=[,!.]?\s*$)/gu,
  new RegExp(
    `^\\s*(?:(?:Best|Warmly)(?=,?\\s*$|[,!]${SIGNED})|(?:Sincerely|Cheers|Respectfully|Take care)(?=[,!.]?\\s*$|[,!]?${SIGNED}))`,
    'gu',
  ),
  /\b(?:have an?|wish(?:ing)? you an?|enjoy (?:your|the))(?: (?:very|really))?(?: (?:nice|good|great|lovely|wonderful|pleasant|beautiful|relaxing|happy|restful)){0,2} (?:rest of (?:your|the) )?(?:day|evening|morning|afternoon|week|weekend|time|one|christmas|easter|new year|summer|holiday)\b/giu,
  /\b(?:many thanks|thanks|thank you)(?: very much| so much)?(?: already)? (?:in advance|in anticipation)\b/giu,
  new RegExp(
    `\\b(?:many thanks|thanks|thank you)(?: very much| so much| again)? for (?:(?:your|the|any|all|that|this|all your) )?(?:(?!${PRAISING})\\p{L}{1,20} ){0,2}${MAIL}\\b`,
    'giu',
  ),
  /\b(?:many thanks|thanks|thank you)(?: very much| so much| again)? for (?:getting|coming|reaching|writing|replying|responding|answering|contacting|calling|letting|confirming|reading|looking into|checking|taking the time|telling|informing|asking|sending|shopping|choosing|visiting|ordering|booking|joining|bearing with)\b(?: (?:us|me|back|out|to|with|from|know|the time)){0,3}/giu,
  /\b(?:many thanks|thanks|thank you)(?: very much| so much)? for (?:your|the|any)(?: \p{L}{1,20})? (?:help|assistance|support|advice|efforts?) (?:in|with) (?:advance|this|the|that|my|our)\b/giu,
  new RegExp(
    `\\b${I_WOULD}${LOUDER}{0,2} (?:appreciate|be${LOUDER}{0,2} (?:grateful|glad|pleased|happy|thankful|obliged|delighted))(?! with)\\b`,
    'giu',
  ),
  /\b(?:would|will|is|are) (?:be )?(?:much|very much|greatly|highly|really|most|always|gratefully|also|so) appreciated\b|\b(?:would|will) be appreciated\b|^\s*much appreciated\b/giu,
  /\bappreciate (?:your|any|the|a|an)(?: \p{L}{1,20})? (?:help|assistance|support|advice|reply|answer|response|time|patience|understanding|attention|update|feedback)\b/giu,
  new RegExp(
    `\\b(?:grateful|thankful) (?:for|to (?:receive|get|have|hear)) (?:your|any|a|an|the)(?: \\p{L}{1,20})? (?:${MAIL}|help|assistance|advice)\\b`,
    'giu',
  ),
  /\b(?:it|that|this|which)(?: would|['\u2019]d) be(?: (?:very|really|so|most|just|absolutely|much|greatly))? (?:great|nice|good|lovely|wonderful|helpful|perfect|ideal|fantastic|best|better|kind(?: of you)?|appreciated|amazing|brilliant|useful)(?= (?:if|to (?:know|get|have|hear|receive|see)|when)\b|\W*$|,)/giu,
  /\b(?:to|you|please|and|would|could|can|if|will|,) be (?:so|very|that) (?:kind|good|nice)(?: as)?(?= (?:to|and)\b)/giu,
  /\bbe (?:kind|good|nice) enough(?= (?:to|and)\b)/giu,
  /\bif you (?:were|would be|are|could be|will be) (?:so|very) (?:kind|good|nice)\b(?: as)?/giu,
  /(?<=\b(?:please|could|can|would|will|may|might|you|i|we|to|and|must) )kindly\b|^\W*kindly(?= \p{L})|\bkindly(?= (?:ask|request|send|let|advise|confirm|note|reply|inform|contact|provide|return|refund|please|remind)\b)/giu,
  new RegExp(
    `\\b${AM}${LOUDER}{0,2} (?:happy|glad|pleased|delighted|willing) to (?:send|provide|give|answer|pay|return|ship|wait|inform|confirm|help|assist|offer|discuss|explain|announce|share|supply|collect|bring)\\b`,
    'giu',
  ),
  /(?:\b(?:i|we)(?: (?:do|really|sincerely|just|very much|only)){0,2} (?:hope|trust)|(?<=^\W*)(?:hope|hoping)) (?:(?:this|that|my|the) (?:mail|e-?mail|message|letter|note) )?(?:all is well|(?:that |this )?helps?\b|finds you(?: (?:well|in good health|in good spirits))?|(?:that )?you (?:are|have been|had|have)(?: (?:all|both|doing|keeping|a|an|very|good|great|nice|lovely|pleasant)){0,4}(?: (?:well|fine|weekend|day|week|summer|christmas|holiday))?|(?:that )?you (?:can|could|will|would|may|might|understand)|(?:that )?(?:we|this) (?:can|could|will)|to (?:hear|receive|get|have))\b/giu,
  /\b(?:(?:i|we) (?:look|am looking|are looking)|i['\u2019]m looking|we['\u2019]re looking|(?<=^\W*)looking) forward to (?:your|hearing|receiving|a (?:reply|response))\b/giu,
  /\b(?:(?:i am|we are|i['\u2019]m|we['\u2019]re) )?sorry (?:to (?:bother|trouble|disturb|ask)|for (?:the|my|our|any) (?:bother|trouble|disturbance|late (?:reply|answer|response)|long (?:mail|message)))\b(?: you)?/giu,
  /\b(?:i|we) (?:am|are|was|were)(?: (?:just|really|only))? hoping (?:that )?(?=(?:you|to|we|for (?:a|an|your|some))\b)/giu,
  /\b(?:would|could|can|may) (?:it|i|we) (?:trouble|bother) you\b/giu,
  /\b(?:i am|we are|i['\u2019]m|we['\u2019]re) afraid(?= (?:that|i|we|the|it|my|our|your|this|there|not|so|one|two|some)\b)/giu,
  /^\W*(?:excuse me|pardon me|i beg your pardon)\b/giu,
  /\b(?:if )?(?:it is|it['\u2019]s|that is|that['\u2019]s) (?:not|no) (?:too much|any|much|a)? ?(?:trouble|bother|problem|hassle)\b/giu,
  /\byou(?: are|['\u2019]re) (?:very |most |always )?welcome\b/giu,
  /\bif you(?:['\u2019]d| would)?(?: (?:like|prefer|wish|please))\b/giu,
  new RegExp(`\\byour ${ADJECTIVE} (?:(?:and|,) ${ADJECTIVE} )?(?=${MAIL}\\b)`, 'giu'),
  /\b(?:vielen|herzlichen|besten) dank|\bdanke(?: sch\u00f6n)?|\bmit freundlichen gr\u00fc\u00dfen|\bmerci(?: beaucoup| d['\u2019]avance| bien)?|\bcordialement/giu,
]

/** "I would like" means "I want". "It looks like" expresses no liking. */
const WISHES: readonly (readonly [form: RegExp, plain: string])[] = [
  [new RegExp(`\\b${I_WOULD}${LOUDER}{0,2} like(?!d|ly)\\b`, 'giu'), ' i want '],
  [
    new RegExp(
      `\\b${I_WOULD}${LOUDER}{0,2} (?:prefer|love)(?= (?:to (?:know|hear|get|have|receive|find out|learn|return|cancel|exchange|change|see|pay)|an?|my|our|some|another|one)\\b)`,
      'giu',
    ),
    ' i want',
  ],
  [
    /(?<!\b(?:nobody|no one|who|hardly anyone) )\b(?:would|should|['\u2019]d)(?: (?:also|really|still|now)){0,2} like(?= (?:to|an?|my|his|her|their|its|our|you|some|more|another|two|three|four|five|\d+|information|advice)\b)/giu,
    ' wants ',
  ],
  [/\b(?:would|do) you(?: (?:also|rather))? like\b/giu, ' do you want '],
  [/\b(what|which|how|when|where)(?: [\p{L}]{1,20}){0,3} would you like\b/giu, ' $1 do you want '],
  [/\b(?:you may|you might|as you|whatever you|whenever you) (?:also )?like\b/giu, ' you want '],
  [
    /\b(looks?|looked|seems?|seemed|sounds?|sounded|feels?|felt|smells?|smelled|smelt|tastes?|tasted|looking) like(?= \p{L})/giu,
    '$1',
  ],
]

/** Thanks beside a request are a formality, however warm. */
const REQUEST =
  /\b(?:please|kindly|(?:could|can|would|will) (?:you|i|we|some|any)|would like to|need (?:to|a|my|the)|let me know|(?:hoping|wondering) (?:that |if |whether )?(?:you|i|we)|obliged if|grateful if|appreciate it if|i(?: would|['\u2019]d) like|(?:do|does|is|are|has|have|where|when) (?:you|my|the|it)\b[^?]{0,80}\?)/iu

const WEAK_THANKS = bareThanks('')
const STRONG_THANKS = bareThanks(MUCH_THANKS)
const ONLY_THANKS = new RegExp(`^\\W*${THANKS}${MUCH_THANKS}?${MORE_THANKS}!\\W*$`, 'u')

/** All of a text (`alone`), beside statements (`aside`), or beside a request (`asking`). */
export type Thanks = 'alone' | 'aside' | 'asking'

/** Linear in the length of the text. */
export function thanksOf(text: string): Thanks {
  if (ONLY_THANKS.test(text)) return 'alone'
  return REQUEST.test(text) ? 'asking' : 'aside'
}

/**
 * Removes forms of courtesy. Thanks with a reason stay, unless the reason is formal, such as a reply or an order. Bare
 * thanks stay if the text says nothing else. Warm thanks are removed only beside a request.
 */
export function withoutCourtesy(sentence: string, thanks: Thanks): string {
  let plain = sentence
  for (const [form, wish] of WISHES) plain = plain.replaceAll(form, wish)
  for (const form of FORMS) plain = plain.replaceAll(form, ' ')
  if (thanks !== 'alone') plain = plain.replaceAll(WEAK_THANKS, ' ')
  if (thanks === 'asking') plain = plain.replaceAll(STRONG_THANKS, ' ')
  return plain.replaceAll(/\s+/gu, ' ')
}
