"""List what the invented shop sells, and the names and places its customers are made of."""

from __future__ import annotations

COMPANY = "Pinewick"
"""An invented outdoor shop; any likeness to a real one is chance."""

GOODS: tuple[tuple[str, str, int], ...] = (
    ("TNT-204", "Heron two-person tent", 18990),
    ("TNT-311", "Heron family tent", 34900),
    ("BAG-118", "Fjell down sleeping bag", 15950),
    ("MAT-087", "Moss sleeping mat", 6490),
    ("STV-142", "Ember gas stove", 5495),
    ("POT-063", "Tarn cooking pot set", 4250),
    ("LMP-059", "Firefly head torch", 3690),
    ("BTL-027", "Brook steel bottle", 2480),
    ("RUC-245", "Ridge 45 litre rucksack", 12900),
    ("RUC-228", "Ridge 28 litre day pack", 7995),
    ("JCK-176", "Squall rain jacket", 13950),
    ("GTR-193", "Scree gaiter set", 6900),
    ("SOX-041", "Merino sock set", 1890),
    ("POL-072", "Larch trekking pole set", 5990),
    ("HMK-066", "Drift hammock", 4790),
    ("FLT-038", "Spring water filter", 3995),
)
"""SKU, name and price in cents."""

FIRST_NAMES = (
    *("Adaeze", "Bram", "Carys", "Dmitri", "Elif", "Farah", "Goran", "Hanneke", "Imani", "Jorge"),
    *("Kenji", "Lucia", "Maeve", "Nadim", "Oriol", "Petra", "Quentin", "Runa", "Sorrel", "Tomasz"),
    *("Uma", "Viggo", "Wanjiru", "Yusuf", "Zora", "Alma", "Benedek", "Chidi", "Delphine", "Eoin"),
)
LAST_NAMES = (
    *("Abara", "Brandvold", "Castellan", "Dunmore", "Eriksen", "Faulk", "Galvez", "Holloway"),
    *("Ilves", "Jansma", "Kowal", "Lindqvist", "Moravec", "Nakata", "Okonjo", "Pellerin"),
    *("Quill", "Rasmus", "Sandoval", "Thackray", "Ulvestad", "Varga", "Whitlock", "Yilmaz"),
)
STREETS = (
    *("Mill Lane", "Station Road", "Harbour Street", "Orchard Close", "Chapel Hill", "Weaver Row"),
    *("Canal Walk", "Beech Avenue", "Market Square", "Foundry Street", "Priory Road", "Fern Bank"),
)
CITIES = (
    *("Westerfold", "Aldmere", "Cranhaven", "Northwell", "Ashby Ferry", "Tollgate"),
    *("Merrowdown", "Kingsfleet", "Oakhampton Vale", "Lower Bray", "Stonebeck", "Fallowfield"),
)
MAIL_HOSTS = ("mailbox.example", "post.example", "inbox.example")
CARRIERS = ("Swiftlark", "Parcelry", "Greyline Post")
