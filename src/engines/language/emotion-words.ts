import { formOf } from './word-forms.ts'

/** Emotions of R. Plutchik ("A general psychoevolutionary theory of emotion", 1980). Ties follow this order. */
export const EMOTIONS = ['joy', 'sadness', 'anger', 'fear', 'disgust', 'surprise', 'trust', 'anticipation'] as const

/** One of the eight emotions. */
export type Emotion = (typeof EMOTIONS)[number]

/** Weight 1 is for a word that names the emotion, less for a word that only accompanies it, and 1.5 for a phrase. */
export interface EmotionSign {
  readonly emotion: Emotion
  readonly weight: number
}

/**
 * English words and phrases. The list was made for this program and has its licence (Apache-2.0). It takes nothing from
 * the NRC Emotion Lexicon, which may not be sold. Phrases have "ones" for possessives (my, your, his, ...) and no
 * apostrophes. Ambiguous words are left out.
 */
const GROUPS: readonly (readonly [emotion: Emotion, weight: number, words: readonly string[]])[] = [
  [
    'joy',
    1,
    listed(`adore amuse amused amusing bliss blissful celebrate celebration cheer cheerful cheery content contented
      contentment delight delighted delightful ecstatic ecstasy elated elation enjoy enjoyable enjoyment enthralled euphoria
      euphoric exhilarated exhilarating exuberant festive fun funny glad gladly gladness gleeful glee grin grinning happily
      happier happiest happiness happy hilarious hooray hurray jolly jovial joy joyful joyous jubilant jubilation laugh
      laughter love lovely merry overjoyed pleased pleasure rejoice smile smiling thrilled thrilling triumph triumphant
      yay yippee haha hahaha lol lmao rofl giggle chuckle playful radiant jubilee heavenly loved loving beaming upbeat`),
  ],
  [
    'joy',
    0.7,
    listed(`amazing awesome beautiful bless blessed blessing brilliant charming congratulations congrats cosy cozy dance
      danced dancing dazzling delicious fabulous fantastic gorgeous grateful gratitude great magnificent marvellous
      marvelous paradise party perfect proud pride sing sang singing splendid stunning superb terrific thank thankful thanks
      victory win winning won wonderful excellent relief relieved sunny treat glorious magical magic`),
  ],
  [
    'joy',
    0.4,
    listed('good nice pleasant relaxed relaxing success successful sweet welcome warm best favourite favorite'),
  ],
  [
    'joy',
    1.5,
    listed(
      'over the moon|on cloud nine|made ones day|in high spirits|jump for joy|jumped for joy|walking on air|could not be happier|couldnt be happier|time of ones life|in seventh heaven|tears of joy|happy tears|laughed out loud',
    ),
  ],
  [
    'sadness',
    1,
    listed(`aching anguish bereaved bereavement bleak crestfallen cried cries cry crying dejected depressed
      depressing depression desolate despair despairing despondent devastated devastating disappoint disappointed
      disappointing disappointment disheartened disheartening dismal dismay dismayed downcast downhearted forlorn
      gloom gloomy grief grieve grieving heartache heartbreak heartbreaking heartbroken helpless homesick hopeless hopelessness
      lament loneliness lonely lonesome longing melancholy miserable misery mourn mourner mourning mournful regret regretful
      remorse sad sadden sadder saddest saddened sadly sadness sob sobbed sobbing sorrow sorrowful sorrows suffering tearful
      tears tragedy tragic tragically unhappy unhappiness weep weeping wept wistful woe woeful demoralised demoralized`),
  ],
  [
    'sadness',
    0.7,
    listed(`alone buried bury coffin condolence condolences dead death deceased died dies dying funeral goodbye grave hollow
      farewell hurt hurts loss lost miss missed orphan pain painful pity sorry sympathy unfortunate unfortunately widow widower
      worthless neglected abandoned rejected perished empty emptiness bittersweet obituary memorial sadder`),
  ],
  ['sadness', 0.4, listed('cancelled canceled fail failed failure poor lose losing')],
  [
    'sadness',
    1.5,
    listed(
      'break ones heart|breaks ones heart|broke ones heart|breaks ones hearts|broke ones hearts|broken heart|broken hearts|heavy heart|heavy hearts|let down|passed away|in tears|burst into tears|sorry for ones loss|rest in peace|feel down|feeling down|felt down|lost ones mother|lost ones father',
    ),
  ],
  [
    'anger',
    1,
    listed(`aggravate aggravated aggravating anger angered angrily angry annoy annoyance annoyed annoying
      enraged enraging exasperated exasperating fume fumed fuming furious furiously fury grudge hate hated hates
      hating hatred hateful hostile hostility incensed indignant indignation infuriate infuriated infuriating irate ire irritate
      irritated irritating irritation livid mad outrage outraged outrageous pissed rage raging resent resentful
      resentment seething spite spiteful vengeance vengeful wrath yell yelled yelling temper frustrate frustrated frustrating
      frustration maddening unacceptable rant ranting`),
  ],
  [
    'anger',
    0.7,
    listed(`accuse accused argue arguing argument betray betrayal betrayed blame bully cheat cheated complain complained
      complaint damn deceive deceived disrespect disrespectful fraud idiot idiotic idiots insult insulted insulting incompetent
      incompetence injustice liar liars lied lies lying moron offended offensive protest protesters provoke quarrel revenge rude
      rudely scam scammed scammer screamed screaming shameful shout shouted shouting slammed stole stolen stupid unfair
      unjust unprofessional hell ridiculous scandalous scandal shame shameless ripoff rip-off crap bullshit wtf steal thief thieves`),
  ],
  [
    'anger',
    0.4,
    listed(
      'awful garbage horrible terrible terribly useless worst rubbish waste wasted wasting refuse refused ignored ignore ignoring joke',
    ),
  ],
  [
    'anger',
    1.5,
    listed(
      'fed up|how dare|sick and tired|sick of|had enough|have had enough|lost ones temper|lose ones temper|boils ones blood|makes ones blood boil|drives me crazy|drives me mad|out of patience|hangs up on|hung up on|wasting ones time|waste ones time|waste of time|ripped off|rip off|last straw|fuck you|shut up',
    ),
  ],
  [
    'fear',
    1,
    listed(`afraid alarmed alarming anxiety anxious anxiously apprehension apprehensive dread dreaded dreading
      fear feared fearful fearing fears fright frighten frightened frightening ghastly horrified horrifying horror intimidated
      intimidating nervous nervously nervousness nightmare nightmares panic panicked panicking panicky paranoid petrified phobia
      scare scared scares scary spooky terrified terrify terrifying terror timid tremble trembled trembling uneasy uneasiness
      unnerving unsettling worried worries worry worrying creepy eerie terrorise terrorize dreadful daunting menacing`),
  ],
  [
    'fear',
    0.7,
    listed(`alarm catastrophe concerned danger dangerous dangerously deadly doom endanger endangered emergency evacuate flee fled
      fleeing haunted haunting hostage insecure insecurity menace peril perilous risky shaking shiver shivered stalker suspense
      terrorist terrorists threat threaten threatened threatening threats tense unsafe unstable vulnerable warn warned warning
      warnings horrific sinister ominous`),
  ],
  [
    'fear',
    0.4,
    listed(
      'attack attacked bomb collapse crisis risk stress stressed war weapon victim killed kill violent violence disaster uncertain uncertainty',
    ),
  ],
  [
    'fear',
    1.5,
    listed(
      'held ones breath|holding ones breath|scared to death|frightened to death|on edge|butterflies in ones stomach|cold sweat|heart was racing|heart is racing|hands were shaking|hands are shaking|losing sleep|run for ones life|ran for ones life|dare not|dared not|too scared to',
    ),
  ],
  [
    'disgust',
    1,
    listed(`abhorrent abhor appalled appalling cringe cringeworthy detest despicable detestable disgust disgusted
      disgusting disgustingly filth filthy foul gag gross grossed grotesque ick icky loathe loathing loathsome nasty nauseated
      nauseating nauseous nausea obscene odious puke puked putrid rancid repellent repugnant repulsed repulsion repulsive
      repelled revolted revolting revulsion rotten rotting sickened sickening slime slimy squalid stench stink stinking stinks
      stinky stank vile vomit vomited vomiting yuck yucky ugh eww ew mouldy moldy maggots maggot cockroach cockroaches sleazy
      unsanitary unhygienic`),
  ],
  [
    'disgust',
    0.6,
    listed(`bloated contaminated contempt corrupt corruption creep depraved dirty disgrace disgraceful dung faeces feces garbage
      greasy hideous immoral infested mould mold perverse perverted pus rat rats scum sewage shoddy sordid sticky stained
      sweaty ugly unclean vermin wretched rot dirt grimy grime smelly greed`),
  ],
  [
    'disgust',
    1.5,
    listed(
      'turns ones stomach|turned ones stomach|makes me sick|made me sick|made me gag|feel sick|felt sick|want to throw up|wanted to throw up',
    ),
  ],
  [
    'surprise',
    1,
    listed(`amaze amazed amazement astonish astonished astonishing astonishingly astonishment astound astounded
      astounding baffled baffling bewildered bewildering dumbfounded flabbergasted gasp gasped gobsmacked incredible incredibly
      incredulous jolt mindblowing omg shocked shocker speechless staggered staggering startle startled startling stunned
      stupefied surprise surprised surprises surprising surprisingly thunderstruck unbelievable unbelievably unexpected
      unexpectedly unforeseen unpredicted wow whoa woah disbelief miracle miraculous miraculously`),
  ],
  [
    'surprise',
    0.7,
    listed(
      'abrupt abruptly astray oddly shock sudden suddenly curious inexplicable inexplicably mysterious mysteriously strangely unannounced unusual plot-twist',
    ),
  ],
  [
    'surprise',
    1.5,
    listed(
      'could not believe|couldnt believe|cannot believe|cant believe|can not believe|did not see that|didnt see that|did not expect|didnt expect|never expected|nobody expected|no one expected|had not expected|hadnt expected|out of nowhere|out of the blue|took me by surprise|by surprise|caught off guard|jaw dropped|no idea that|who would have thought|who knew|would you believe|never thought|never imagined|all of a sudden|against all odds|blew ones mind',
    ),
  ],
  [
    'trust',
    1,
    listed(`authentic confidence confident credible credibility dependable devoted devotion faith faithful
      faithfully honest honestly honesty honour honor integrity loyal loyally loyalty reassure reassured reassuring rely
      reliable reliably reliability reputable sincere sincerely sincerity steadfast steady transparent transparency trust
      trusted trustworthy trusting trusts truthful truthfully vouch`),
  ],
  [
    'trust',
    0.6,
    listed(`accurate accurately admire admired admiration assure assured assurance believe believes careful carefully caring
      competent diligent expert expertise fair fairly fairness friend friendly friendship helpful kindness knowledgeable
      professional promise promises proven recommend recommended respect respected respectful responsible safe safely
      secure solid supportive thorough thoroughly verified wise`),
  ],
  [
    'trust',
    1.5,
    listed(
      'count on|counted on|rely on|relied on|believe in|faith in|good hands|safe hands|safe in|keeps ones word|kept ones word|keep ones word|keeps ones promises|stands by|stand by|true to ones word|promise kept|promises kept|full confidence|peace of mind|without hesitation|has ones back',
    ),
  ],
  [
    'anticipation',
    1,
    listed(`anticipate anticipated anticipating anticipation await awaited awaiting eager eagerly eagerness expectant expectation
      expectations expectantly hope hoped hopeful hopefully hopes hoping impatience impatiently keen keenly
      long-awaited yearn yearning countdown upcoming`),
  ],
  [
    'anticipation',
    0.6,
    listed(`excited excitement exciting expect expected expecting expects plan planned planning plans predict predicted
      prediction prepare preparing prepared prospect ready soon wait waited waiting forecast dream dreaming wish wishing imagine
      preview teaser sequel debut`),
  ],
  [
    'anticipation',
    1.5,
    listed(
      'look forward|looks forward|looking forward|looked forward|cant wait|cannot wait|can not wait|can hardly wait|could not wait|couldnt wait|counting the days|count the days|counting down|fingers crossed|more days until|days to go|days until|about to|any day now|just around the corner|bated breath|on tenterhooks',
    ),
  ],
  [
    'joy',
    1,
    [
      '\u{1f600}',
      '\u{1f603}',
      '\u{1f604}',
      '\u{1f60a}',
      '\u{1f60d}',
      '\u{1f970}',
      '\u{2764}',
      '\u{1f389}',
      ':)',
      ':-)',
      ':d',
      ':-d',
      '<3',
      'xd',
    ],
  ],
  ['sadness', 1, ['\u{1f61e}', '\u{1f622}', '\u{1f62d}', '\u{1f494}', ':(', ':-(', ":'("]],
  ['anger', 1, ['\u{1f620}', '\u{1f621}', '\u{1f92c}', '\u{1f624}', '>:(']],
  ['fear', 1, ['\u{1f628}', '\u{1f630}', '\u{1f631}']],
  ['disgust', 1, ['\u{1f92e}', '\u{1f922}']],
  ['surprise', 1, ['\u{1f62e}', '\u{1f632}', '\u{1f92f}']],
]

/** Phrases are separated by bars, words by blanks. */
function listed(words: string): readonly string[] {
  return words.includes('|') ? words.split('|') : words.split(/\s+/)
}

/** No phrase in the list has more words. */
export const EMOTION_PHRASE_WORDS_MAX = 5

const SIGNS: ReadonlyMap<string, readonly EmotionSign[]> = signs()

function signs(): ReadonlyMap<string, readonly EmotionSign[]> {
  const map = new Map<string, readonly EmotionSign[]>()
  for (const [emotion, weight, words] of GROUPS) {
    for (const word of words) map.set(word, [...(map.get(word) ?? []), { emotion, weight }])
  }
  return map
}

const PHRASE_STARTS: ReadonlySet<string> = new Set(
  [...SIGNS.keys()].filter((entry) => entry.includes(' ')).map((entry) => entry.split(' ', 1)[0] as string),
)

/** `word` is in lower case. */
export function emotionsOfWord(word: string): readonly EmotionSign[] {
  return formOf(SIGNS, word) ?? []
}

/** The longest phrase that begins at this word, with its number of words; null if there is none. */
export function emotionsOfPhrase(
  words: readonly string[],
  at: number,
): { readonly signs: readonly EmotionSign[]; readonly length: number } | null {
  if (!PHRASE_STARTS.has(words[at] as string)) return null
  for (let length = EMOTION_PHRASE_WORDS_MAX; length > 1; length--) {
    const phrase = words
      .slice(at, at + length)
      .map(impersonal)
      .join(' ')
    const found = SIGNS.get(phrase)
    if (found !== undefined) return { signs: found, length }
  }
  return null
}

const POSSESSIVES: ReadonlySet<string> = new Set(['my', 'your', 'his', 'her', 'its', 'our', 'their'])

function impersonal(word: string): string {
  return POSSESSIVES.has(word) ? 'ones' : word
}
