"""Word problems: sums in words, with names, prices and distances drawn at random: what people ask who need a number."""

import random

# {n} is drawn anew at each place: [a,b] an integer, [a,b,s] in steps of s, {p} a price, {who} a name, {c} a currency.
SHAPES = (
    "{who} buys {[2,9]} {thing} at {p} {c} each and {[2,6]} {thing} at {p} {c} each. How much does {who} pay in total?",
    "A {shop} sells {thing} for {p} {c} apiece. If {who} has {[20,120,5]} {c}, how many can {who} buy, and how much is left?",
    "{who} drives {[60,480,10]} km at an average speed of {[50,120,10]} km/h. How long does the journey take?",
    "A bus leaves at {[6,11]}:{[10,50,5]} and travels for {[1,4]} hours and {[10,50,5]} minutes. When does it arrive?",
    "A recipe for {[2,6]} people needs {[150,500,50]} g of flour and {[1,4]} eggs. How much of each is needed for {[8,24,2]} people?",
    "{who} earns {[12,30]} {c} an hour and works {[4,9]} hours a day, {[3,6]} days a week. How much is that in {[2,8]} weeks?",
    "A {thing1} costs {[40,400,10]} {c}. In the sale it is {[10,50,5]}% cheaper. What is the new price?",
    "There are {[18,34]} pupils in a class. {[4,12]} of them play football, {[3,9]} play tennis and the others do no sport. How many do no sport?",
    "{who} has saved {[100,900,20]} {c} and puts aside {[15,80,5]} {c} every month. After how many months will there be {[1000,3000,100]} {c}?",
    "A tank holds {[200,900,50]} litres. {[5,25]} litres flow in every minute. How long does it take until it is full?",
    "A room is {[3,9]} metres long and {[2,7]} metres wide. How many square metres of carpet are needed, and what does it cost at {[8,45]} {c} per square metre?",
    "{who} runs {[3,12]} km on {[2,5]} days a week. How many kilometres is that in {[3,12]} weeks?",
    "A parcel weighs {[2,9]}.{[1,9]} kg and another one {[1,6]}.{[1,9]} kg. Together they may weigh {[8,20]} kg. By how much are they below or above that?",
    "{[3,8]} friends share a bill of {[40,260]}.{[10,90,10]} {c} equally. How much does each of them pay?",
    "In {year} a village had {[400,4000,20]} inhabitants, and {[3,20]} years later {[10,40]}% more. How many people lived there then?",
    "{who} is {[8,40]} years old and {who2} is {[2,9]} years younger. How old will they be together in {[2,12]} years?",
    "A printer prints {[8,40]} pages a minute. How many minutes does it need for {[120,900,30]} pages?",
    "A farmer has {[20,90]} chickens. Each of them lays {[3,6]} eggs a week. How many boxes of {[6,12,2]} eggs can be filled in {[2,6]} weeks?",
    "The temperature was {[4,15]} degrees in the morning, rose by {[3,12]} degrees until noon and fell by {[5,18]} degrees until midnight. How warm was it at midnight?",
    "{who} reads {[12,45]} pages a day. How many days does {who} need for a book of {[180,720,10]} pages, and how many pages are left for the last day?",
    "What is {[11,99]} times {[11,99]}?",
    "Calculate {[120,990]} + {[120,990]} - {[20,110]}.",
    "What is {[5,60,5]}% of {[80,900,20]}?",
    "A car uses {[4,9]}.{[1,9]} litres of petrol per 100 km. How much petrol does it need for {[150,900,50]} km, and what does that cost at 1.{[50,95]} {c} per litre?",
    "Solve for x: {[2,9]}x + {[3,40]} = {[41,99]}.",
    "{who} swims {[20,60,2]} lengths of {[25,50,25]} metres. How many metres is that, and how many kilometres?",
    "A cinema has {[12,30]} rows with {[10,28]} seats each. {[40,200]} seats are taken. How many are free?",
    "Tickets cost {[8,20]} {c} for adults and {[4,7]} {c} for children. What does a family with {[1,2]} adults and {[1,5]} children pay?",
    "{who} borrows {[500,5000,100]} {c} at {[2,9]}% interest a year. How much interest is due after {[1,5]} years without compounding?",
    "The average of {[3,5]} marks is {[60,90]}. The next mark is {[40,100]}. What is the new average?",
)
LEADS = (
    "", "", "", "", "Can you solve this? ", "Maths homework: ", "Please work this out. ", "Quick question: ", "Help me with this problem. ",
)  # fmt: skip
TAILS = (
    "", "", "", "", " Show your working.", " Explain how you got there.", " Think step by step.", " Just give me the result, please.",
    " Please show each step.", " Write down the calculation first.", " I'd like to understand the way, not only the answer.",
)  # fmt: skip
NAMES = (
    "Amir", "Bea", "Carlos", "Dana", "Emil", "Fatima", "Greta", "Hugo", "Ines", "Jamal", "Kira", "Luca", "Maya", "Nils", "Olga",
    "Pavel", "Rosa", "Sami", "Tara", "Uma", "Viktor", "Wanda", "Yusuf", "Zoe", "Anna", "Ben", "Chloe", "Daniel", "Ella", "Mr Brown",
)  # fmt: skip
THINGS = (
    "notebooks", "apples", "T-shirts", "tickets", "candles", "chairs", "plants", "bottles of juice", "pencils", "sandwiches", "cups",
    "light bulbs", "bags of rice", "balls", "lamps", "stamps", "magazines", "pizzas", "tiles", "sacks of soil",
)  # fmt: skip
SINGLE = (
    "coat", "bicycle", "table", "phone", "camera", "tent", "pair of boots", "printer", "guitar", "vacuum cleaner", "watch",
)  # fmt: skip
SHOPS = ("shop", "market stall", "bakery", "garden centre", "bookshop", "supermarket", "kiosk")


def shapes(held_out: bool) -> tuple[str, ...]:
    """The shapes of one side: every fifth is for measuring alone."""
    return tuple(s for i, s in enumerate(SHAPES) if (i % 5 == 2) == held_out)


def word_problem(draw: random.Random, held_out: bool = False) -> str:
    """One question."""
    who, who2 = draw.sample(NAMES, 2)
    currency = draw.choice(("euros", "dollars", "pounds", "francs", "dollars"))
    text = draw.choice(shapes(held_out))
    while "{" in text:
        before, _, rest = text.partition("{")
        mark, _, after = rest.partition("}")
        if mark.startswith("["):
            low, high, step = (*map(int, mark[1:-1].split(",")), 1)[:3]
            value = str(draw.randrange(low, high + 1, step))
        else:
            price = f"{draw.randint(1, 19)}.{draw.choice(('20', '50', '75', '80', '95', '99', '00'))}"
            things = {"thing": draw.choice(THINGS), "thing1": draw.choice(SINGLE), "shop": draw.choice(SHOPS)}
            year = str(draw.randrange(1890, 2015, 5))
            value = {"who": who, "who2": who2, "c": currency, "p": price, "year": year, **things}[mark]
        text = before + value + after
    return draw.choice(LEADS) + text + draw.choice(TAILS)
