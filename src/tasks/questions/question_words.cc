#include "tasks/questions/question_words.h"

#include <algorithm>

namespace punt {
namespace {

// clang-format off
constexpr std::string_view kGiven[] = {
    "Aaron", "Abigail", "Adam", "Alan", "Albert", "Alexander", "Alice", "Amanda", "Amy", "Andrea", "Andrew",
    "Angela", "Ann", "Anna", "Anthony", "Arthur", "Ashley", "Austin", "Barbara", "Benjamin", "Betty", "Billy",
    "Bradley", "Brandon", "Brenda", "Brian", "Bruce", "Carl", "Carol", "Catherine", "Charles", "Charlotte",
    "Christian", "Christine", "Christopher", "Craig", "Cynthia", "Daniel", "David", "Deborah", "Dennis",
    "Diana", "Donald", "Donna", "Dorothy", "Douglas", "Dylan", "Edward", "Eleanor", "Elizabeth", "Emily",
    "Emma", "Eric", "Ethan", "Eugene", "Evelyn", "Frances", "Frank", "Gabriel", "Gary", "George", "Gerald",
    "Gloria", "Grace", "Gregory", "Hannah", "Harold", "Harry", "Heather", "Helen", "Henry", "Isaac", "Isabella",
    "Jack", "Jacob", "James", "Janet", "Jason", "Jean", "Jeffrey", "Jennifer", "Jeremy", "Jerry", "Jesse",
    "Jessica", "Joan", "Joe", "John", "Johnny", "Jonathan", "Jordan", "Jose", "Joseph", "Joshua", "Joyce",
    "Juan", "Judith", "Judy", "Julia", "Justin", "Karen", "Katherine", "Kathleen", "Keith", "Kelly", "Kenneth",
    "Kevin", "Kimberly", "Kyle", "Larry", "Laura", "Lauren", "Lawrence", "Linda", "Lisa", "Logan", "Louis",
    "Madison", "Margaret", "Maria", "Marie", "Marilyn", "Mark", "Martha", "Martin", "Mary", "Matthew", "Megan",
    "Melissa", "Michael", "Michelle", "Nancy", "Natalie", "Nathan", "Nicholas", "Nicole", "Noah", "Oliver",
    "Olivia", "Pamela", "Patricia", "Patrick", "Paul", "Peter", "Philip", "Rachel", "Ralph", "Randy", "Raymond",
    "Rebecca", "Richard", "Robert", "Roger", "Ronald", "Rose", "Roy", "Russell", "Ruth", "Ryan", "Samantha",
    "Samuel", "Sandra", "Sarah", "Scott", "Sean", "Sharon", "Shirley", "Sophia", "Stephanie", "Stephen",
    "Steven", "Susan", "Teresa", "Theodore", "Theresa", "Thomas", "Timothy", "Tyler", "Victoria", "Vincent",
    "Virginia", "Walter", "Wayne", "William", "Zachary"};

constexpr std::string_view kSurnames[] = {
    "Abbott", "Adams", "Aguilar", "Alexander", "Allen", "Alvarez", "Anderson", "Andrews", "Armstrong", "Arnold",
    "Austin", "Bailey", "Baker", "Banks", "Barnes", "Bell", "Bennett", "Berry", "Bishop", "Black", "Bowman",
    "Boyd", "Bradley", "Brooks", "Brown", "Bryant", "Burke", "Burns", "Burton", "Butler", "Campbell", "Carlson",
    "Carpenter", "Carr", "Carroll", "Carson", "Carter", "Castillo", "Castro", "Chapman", "Chavez", "Chen",
    "Clark", "Cole", "Coleman", "Collins", "Cook", "Cooper", "Cox", "Crawford", "Cruz", "Cunningham", "Curtis",
    "Daniels", "Davidson", "Davis", "Day", "Dean", "Diaz", "Dixon", "Douglas", "Duncan", "Dunn", "Edwards",
    "Elliott", "Ellis", "Evans", "Ferguson", "Fernandez", "Fields", "Fisher", "Fleming", "Fletcher", "Flores",
    "Ford", "Foster", "Fowler", "Fox", "Franklin", "Freeman", "Fuller", "Garcia", "Gardner", "Garza", "Gibson",
    "Gilbert", "Gomez", "Gonzalez", "Gordon", "Graham", "Grant", "Gray", "Green", "Greene", "Griffin",
    "Gutierrez", "Hall", "Hamilton", "Hansen", "Hanson", "Harper", "Harris", "Harrison", "Hart", "Harvey",
    "Hawkins", "Hayes", "Henderson", "Henry", "Hernandez", "Hicks", "Hill", "Hoffman", "Holland", "Holmes",
    "Holt", "Hopkins", "Howard", "Howell", "Hudson", "Hughes", "Hunt", "Hunter", "Jackson", "Jacobs", "James",
    "Jenkins", "Jensen", "Jimenez", "Johnson", "Johnston", "Jones", "Jordan", "Kelley", "Kelly", "Kennedy",
    "Kim", "King", "Knight", "Lambert", "Lane", "Larson", "Lawrence", "Lawson", "Lee", "Lewis", "Lin", "Little",
    "Long", "Lopez", "Lucas", "Lynch", "Marshall", "Martin", "Martinez", "Mason", "Matthews", "May", "McCarthy",
    "McCoy", "McDonald", "Medina", "Mendoza", "Meyer", "Miller", "Mills", "Mitchell", "Montgomery", "Moore",
    "Morales", "Moreno", "Morgan", "Morris", "Morrison", "Murphy", "Murray", "Myers", "Neal", "Nelson",
    "Newman", "Nguyen", "Nichols", "Oliver", "Olson", "Ortega", "Ortiz", "Owens", "Palmer", "Park", "Parker",
    "Patel", "Patterson", "Payne", "Pearson", "Perez", "Perkins", "Perry", "Peters", "Peterson", "Phillips",
    "Pierce", "Porter", "Powell", "Price", "Quinn", "Ramirez", "Ramos", "Ray", "Reed", "Reid", "Reyes",
    "Reynolds", "Rice", "Richards", "Richardson", "Riley", "Rivera", "Roberts", "Robertson", "Robinson",
    "Rodriguez", "Rogers", "Romero", "Rose", "Ross", "Ruiz", "Russell", "Ryan", "Sanchez", "Sanders", "Santos",
    "Schmidt", "Schneider", "Schultz", "Scott", "Shaw", "Silva", "Simmons", "Simpson", "Sims", "Smith",
    "Snyder", "Soto", "Spencer", "Stanley", "Stephens", "Stevens", "Stewart", "Stone", "Sullivan", "Sutton",
    "Taylor", "Thomas", "Thompson", "Torres", "Tran", "Tucker", "Turner", "Vargas", "Vasquez", "Vega", "Wagner",
    "Walker", "Wallace", "Walsh", "Ward", "Warren", "Washington", "Watkins", "Watson", "Weaver", "Webb",
    "Weber", "Welch", "Wells", "West", "Wheeler", "White", "Williams", "Williamson", "Willis", "Wilson", "Wong",
    "Wood", "Woods", "Wright", "Yang", "Young"};

constexpr std::string_view kCities[] = {
    "Oslo", "Bergen", "Paris", "Lyon", "Berlin", "Munich", "Madrid", "Seville", "Rome", "Milan", "Lisbon",
    "Porto", "Vienna", "Graz", "Warsaw", "Krakow", "Tokyo", "Osaka", "Cairo", "Luxor", "Lima", "Cusco", "Delhi",
    "Mumbai", "Dublin", "Cork", "Athens", "Patras", "Prague", "Brno", "Helsinki", "Turku"};

constexpr std::string_view kCountries[] = {
    "Norway", "France", "Germany", "Spain", "Italy", "Portugal", "Austria", "Poland", "Japan", "Egypt", "Peru",
    "India", "Ireland", "Greece", "Czechia", "Finland"};

constexpr std::string_view kMonths[] = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

constexpr std::string_view kDays[] = {
    "1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th", "11th", "12th", "13th", "14th",
    "15th", "16th", "17th", "18th", "19th", "20th", "21st", "22nd", "23rd", "24th", "25th", "26th", "27th",
    "28th"};
// clang-format on

constexpr std::size_t kStride = 6;  // every sixth given name is used in records

}  // namespace

std::span<const std::string_view> GivenNames() { return kGiven; }
std::span<const std::string_view> Surnames() { return kSurnames; }
std::span<const std::string_view> Cities() { return kCities; }
std::span<const std::string_view> Months() { return kMonths; }
std::span<const std::string_view> Days() { return kDays; }

std::span<const std::string_view> RecordNames() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < std::size(kGiven); i += kStride) names.push_back(kGiven[i]);
    return names;
  }();
  return kNames;
}

std::optional<std::size_t> IndexIn(std::span<const std::string_view> words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin());
}

std::optional<std::string_view> CountryOf(std::string_view city) {
  const std::optional<std::size_t> index = IndexIn(kCities, city);
  if (!index) return std::nullopt;
  return kCountries[*index / 2];  // two cities each
}

}  // namespace punt
