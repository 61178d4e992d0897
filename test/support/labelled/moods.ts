/** A text with its sentiment as a reader sees it, and its emotions, each of which may be called the main one. */
export interface LabelledMood {
  readonly text: string
  readonly sentiment: 'negative' | 'neutral' | 'positive'
  /** Empty if the text shows none. */
  readonly emotions: readonly string[]
}

/** Texts on which the engine was tuned. Labels come from the meaning of a text. */
export const TUNED_MOODS: readonly LabelledMood[] = [
  {
    text: 'We got the keys today! I keep walking from room to room and smiling like a child.',
    sentiment: 'positive',
    emotions: ['joy'],
  },
  {
    text: 'Best birthday ever. Thank you all, I laughed so hard my stomach hurts.',
    sentiment: 'positive',
    emotions: ['joy'],
  },
  {
    text: 'She sang the whole way home, delighted with her little blue bicycle.',
    sentiment: 'positive',
    emotions: ['joy'],
  },
  {
    text: 'The crowd cheered and danced in the streets after the final whistle; the cup was theirs at last.',
    sentiment: 'positive',
    emotions: ['joy'],
  },
  {
    text: 'This blender is wonderful. Smoothies every morning, easy to clean, and my kids love it.',
    sentiment: 'positive',
    emotions: ['joy'],
  },
  {
    text: 'My grandfather died on Sunday. I miss his terrible jokes and I keep setting a plate for him.',
    sentiment: 'negative',
    emotions: ['sadness'],
  },
  {
    text: 'He sat alone in the empty kitchen and wept until it was dark.',
    sentiment: 'negative',
    emotions: ['sadness'],
  },
  {
    text: 'I feel so lonely in this city. Nobody calls, and the days are all the same grey.',
    sentiment: 'negative',
    emotions: ['sadness'],
  },
  {
    text: 'Unfortunately the shelter has to close in March. It breaks our hearts to tell you this.',
    sentiment: 'negative',
    emotions: ['sadness'],
  },
  {
    text: 'Third time my parcel has been "lost". I am furious, and your support just hangs up on me.',
    sentiment: 'negative',
    emotions: ['anger'],
  },
  {
    text: 'How dare they charge us for a service that never worked! This is outrageous.',
    sentiment: 'negative',
    emotions: ['anger'],
  },
  {
    text: 'He slammed the door and yelled that he was sick of their lies.',
    sentiment: 'negative',
    emotions: ['anger'],
  },
  {
    text: 'It really annoys me when people talk on the phone during a film.',
    sentiment: 'negative',
    emotions: ['anger'],
  },
  {
    text: 'There was a noise downstairs. She held her breath, too frightened to move.',
    sentiment: 'negative',
    emotions: ['fear'],
  },
  {
    text: "I'm scared of what the doctor will say tomorrow.",
    sentiment: 'negative',
    emotions: ['fear'],
  },
  {
    text: 'Investors panicked as rumours spread that the bank could collapse within days.',
    sentiment: 'negative',
    emotions: ['fear'],
  },
  {
    text: 'Residents worry that the dam, cracked since the earthquake, may not hold through the winter.',
    sentiment: 'negative',
    emotions: ['fear'],
  },
  {
    text: 'I could not believe my eyes: after twenty years there stood my brother, completely unexpected.',
    sentiment: 'positive',
    emotions: ['surprise', 'joy'],
  },
  {
    text: 'Wow, I did not see that ending coming at all!',
    sentiment: 'positive',
    emotions: ['surprise'],
  },
  {
    text: 'The results astonished the researchers, who suddenly found water where the models said there was none.',
    sentiment: 'neutral',
    emotions: ['surprise'],
  },
  {
    text: 'There was hair in my soup and the tablecloth was sticky. Disgusting place.',
    sentiment: 'negative',
    emotions: ['disgust'],
  },
  {
    text: 'The smell of rotten fish in the stairwell made us all feel nauseous.',
    sentiment: 'negative',
    emotions: ['disgust'],
  },
  {
    text: 'Honestly, the way he spoke about those women was vile and repulsive.',
    sentiment: 'negative',
    emotions: ['disgust', 'anger'],
  },
  {
    text: 'I have used this mechanic for ten years. He is honest, reliable and always keeps his word.',
    sentiment: 'positive',
    emotions: ['trust'],
  },
  {
    text: 'You can count on Maria: she is loyal, and I would trust her with my house keys.',
    sentiment: 'positive',
    emotions: ['trust'],
  },
  {
    text: 'The auditors confirmed that the accounts are accurate, and the board has full confidence in the new director.',
    sentiment: 'positive',
    emotions: ['trust'],
  },
  {
    text: "Only three more days until the concert, I can't wait!",
    sentiment: 'positive',
    emotions: ['anticipation', 'joy'],
  },
  {
    text: 'We look forward to the opening next spring and are eager to show you what we have planned.',
    sentiment: 'positive',
    emotions: ['anticipation'],
  },
  {
    text: 'The children sat at the window, waiting impatiently for the first snow that the forecast had promised.',
    sentiment: 'neutral',
    emotions: ['anticipation'],
  },
  {
    text: 'The meeting starts at 10:00 in room 4. Please bring a copy of the budget.',
    sentiment: 'neutral',
    emotions: [],
  },
  {
    text: 'The library is open from Monday to Friday and has about forty thousand volumes.',
    sentiment: 'neutral',
    emotions: [],
  },
  {
    text: 'To change the filter, turn the lid to the left and lift out the cartridge.',
    sentiment: 'neutral',
    emotions: [],
  },
  {
    text: 'Block 88412 holds 214 transactions, and its fees went to the usual address.',
    sentiment: 'neutral',
    emotions: [],
  },
  {
    text: "I'm not angry, really. I just want my money back.",
    sentiment: 'neutral',
    emotions: [],
  },
  {
    text: 'The app is not scary to set up at all: anybody can do it in a few minutes.',
    sentiment: 'positive',
    emotions: [],
  },
  {
    text: 'The hotel was fine, nothing special. Breakfast from seven, towels changed daily.',
    sentiment: 'positive',
    emotions: [],
  },
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_MOODS: readonly LabelledMood[] = [
  {
    text: 'I passed! Four years of night school and I finally passed, I am over the moon.',
    sentiment: 'positive',
    emotions: ['joy'],
  },
  {
    text: 'What a lovely evening. Good wine, old friends, and so much laughter that the neighbours joined in.',
    sentiment: 'positive',
    emotions: ['joy'],
  },
  {
    text: 'The puppy wagged its tail and the whole ward cheered up.',
    sentiment: 'positive',
    emotions: ['joy'],
  },
  {
    text: 'Super happy with these headphones, the sound is fantastic for the price.',
    sentiment: 'positive',
    emotions: ['joy'],
  },
  {
    text: 'They buried the old dog under the apple tree, and for weeks the house felt hollow.',
    sentiment: 'negative',
    emotions: ['sadness'],
  },
  {
    text: "I cried when I read your letter. I'm so sorry for your loss.",
    sentiment: 'negative',
    emotions: ['sadness'],
  },
  {
    text: 'After the layoffs the team is demoralised; people feel hopeless and nobody speaks at lunch.',
    sentiment: 'negative',
    emotions: ['sadness'],
  },
  {
    text: 'We are deeply disappointed that the festival has been cancelled again this year.',
    sentiment: 'negative',
    emotions: ['sadness'],
  },
  {
    text: 'Stop wasting my time. I have asked you four times and I am fed up with these stupid excuses.',
    sentiment: 'negative',
    emotions: ['anger'],
  },
  {
    text: 'Farmers angrily blocked the motorway, shouting at ministers who they say betrayed them.',
    sentiment: 'negative',
    emotions: ['anger'],
  },
  {
    text: 'I hate this update. It deleted my settings and the company insults us by calling it progress.',
    sentiment: 'negative',
    emotions: ['anger'],
  },
  {
    text: 'The villagers live in terror of the next attack and dare not leave their homes after dark.',
    sentiment: 'negative',
    emotions: ['fear'],
  },
  {
    text: "My hands were shaking before the interview, I've never been so nervous.",
    sentiment: 'negative',
    emotions: ['fear'],
  },
  {
    text: 'Experts warn that the virus poses a grave threat to hospitals already under strain.',
    sentiment: 'negative',
    emotions: ['fear'],
  },
  {
    text: 'To our amazement the old radio, silent for thirty years, suddenly began to play.',
    sentiment: 'positive',
    emotions: ['surprise'],
  },
  {
    text: 'Nobody expected the smallest club in the league to win. What a shock!',
    sentiment: 'neutral',
    emotions: ['surprise'],
  },
  {
    text: 'Mould on the bread, a cockroach in the sink. Yuck. I felt sick for two days.',
    sentiment: 'negative',
    emotions: ['disgust'],
  },
  {
    text: 'The river is filthy, full of slime and sewage, and it stinks.',
    sentiment: 'negative',
    emotions: ['disgust'],
  },
  {
    text: 'Dr Okafor took time to explain everything. I felt safe in her hands and believe every word she says.',
    sentiment: 'positive',
    emotions: ['trust'],
  },
  {
    text: 'A dependable supplier: every delivery on time, every promise kept, prices fair and transparent.',
    sentiment: 'positive',
    emotions: ['trust'],
  },
  {
    text: 'Hoping for good news from the embassy soon; our bags are packed and we are ready to go.',
    sentiment: 'positive',
    emotions: ['anticipation'],
  },
  {
    text: 'Fans are eagerly awaiting the sequel, which is expected in theatres in November.',
    sentiment: 'positive',
    emotions: ['anticipation'],
  },
  {
    text: 'The train from platform 2 calls at Reading, Didcot and Oxford.',
    sentiment: 'neutral',
    emotions: [],
  },
  {
    text: 'Mix the flour with the water, let the dough rest for an hour, then bake it at 220 degrees.',
    sentiment: 'neutral',
    emotions: [],
  },
  {
    text: 'The report compares rainfall in twelve districts between 1990 and 2020.',
    sentiment: 'neutral',
    emotions: [],
  },
  {
    text: 'The node stores each block on disk and answers requests on port 8080.',
    sentiment: 'neutral',
    emotions: [],
  },
  {
    text: "Don't worry, there is no danger: the alarm is only a test.",
    sentiment: 'neutral',
    emotions: [],
  },
  {
    text: 'It was neither sad nor funny, just long. The seats were comfortable.',
    sentiment: 'neutral',
    emotions: [],
  },
]
