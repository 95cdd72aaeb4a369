// Prints made-up data for the demo: 100,000 visits of 30,000 people, as CSV. It computes with whole
// numbers alone, so that every machine prints the same bytes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

// splitmix64, public domain, by Sebastiano Vigna.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t word() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// Returns a number from low to high, all equally likely.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(word() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  /// Returns an approximately normal number of mean 0 and standard deviation 100: the sum of twelve
  /// uniform numbers from 0 to 100 has a variance of 12 · 850.
  std::int64_t bell() {
    std::int64_t sum = -600;
    for (int i = 0; i < 12; ++i) sum += between(0, 100);
    return sum * 100 / 101;
  }
  /// Returns an index, with a probability proportional to its weight.
  template <std::size_t n>
  std::size_t pick(const std::array<int, n>& weights) {
    int all = 0;
    for (const int weight : weights) all += weight;
    std::int64_t at = between(0, all - 1);
    std::size_t index = 0;
    while (at >= weights[index]) at -= weights[index++];
    return index;
  }

 private:
  std::uint64_t state_;
};

constexpr std::array regions{"north", "east", "south", "west", "centre", "islands"};
constexpr std::array region_weights{22, 18, 25, 16, 15, 4};
constexpr std::array educations{"primary", "secondary", "vocational", "bachelor", "master"};
constexpr std::array education_weights{10, 34, 24, 21, 11};
constexpr std::array month_days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
constexpr std::array month_weights{10, 9, 9, 8, 8, 7, 5, 5, 8, 9, 10, 12};
// the last two are so rare that an answer must not show them
constexpr std::array reasons{"check-up", "vaccination", "back pain", "fever",      "injury",
                             "skin",     "allergy",     "travel",    "snake bite", "astronaut"};
constexpr std::array reason_weights{3000, 2200, 1500, 1200, 900, 600, 400, 198, 1, 1};

struct Person {
  int id, age, hours;
  std::int64_t income;  // cents a month; 0: not stated
  std::size_t education, region;
};

Person someone(int id, Dice& dice) {
  Person p{};
  p.id = id;
  p.age = static_cast<int>(std::clamp<std::int64_t>(46 + dice.bell() * 17 / 100, 18, 95));
  p.education = dice.pick(education_weights);
  p.region = dice.pick(region_weights);
  const bool works = p.age < 66 && !dice.one_in(7);
  p.hours = works ? static_cast<int>(std::clamp<std::int64_t>(
                        (dice.one_in(4) ? 20 : 38) + dice.bell() * 6 / 100, 4, 70))
                  : 0;
  // Income grows with education, experience and hours, and varies by a quarter; one in fifty is far
  // higher.
  constexpr std::array<std::int64_t, 5> base{1700, 2150, 2450, 3100, 3900};
  const std::int64_t experience = std::min(p.age - 18, 35);
  std::int64_t euros = base[p.education] * (100 + experience * 3 / 2) / 100;
  euros = works ? euros * (40 + p.hours * 3 / 2) / 100 : euros * 55 / 100;
  if (p.region == 4) euros = euros * 112 / 100;
  std::int64_t cents = std::max<std::int64_t>(
      30000, euros * 100 * (100 + dice.bell() / 4) / 100 + dice.between(-999, 999));
  if (dice.one_in(50)) cents = cents * dice.between(15, 60) / 10;
  p.income = dice.one_in(25) ? 0 : cents;
  return p;
}

std::string two(int number) { return (number < 10 ? "0" : "") + std::to_string(number); }

void visit(const Person& p, Dice& dice) {
  const std::size_t month = dice.pick(month_weights);
  const auto day = static_cast<int>(dice.between(1, month_days[month]));
  const std::int64_t minutes =
      std::clamp<std::int64_t>(8 + p.age / 6 + dice.bell() * 6 / 100, 1, 90);
  std::string age = std::to_string(p.age);
  std::string time = std::to_string(minutes);
  std::string hours = std::to_string(p.hours);
  // Entries by hand may be empty, or not a number.
  if (dice.one_in(200)) hours.clear();
  if (dice.one_in(400)) time.clear();
  if (dice.one_in(5000)) age = "n/a";
  const std::string income =
      p.income == 0 ? ""
                    : std::to_string(p.income / 100) + "." + two(static_cast<int>(p.income % 100));
  std::printf("%d,%s,%s,%s,%s,%s,2025-%s-%s,%s,%s\n", p.id, age.c_str(), educations[p.education],
              hours.c_str(), income.c_str(), regions[p.region],
              two(static_cast<int>(month) + 1).c_str(), two(day).c_str(),
              reasons[dice.pick(reason_weights)], time.c_str());
}

}  // namespace

int main() {
  Dice dice(20260131);
  std::vector<Person> people;
  for (int i = 0; i < 30000; ++i) people.push_back(someone(100001 + i, dice));
  std::puts("person,age,education,hours,income,region,day,reason,minutes");
  // Everyone comes once. Further visits are those of older people and of a few who come often.
  int rows = 0;
  for (const Person& p : people) {
    visit(p, dice);
    ++rows;
  }
  while (rows < 100000) {
    const Person& p = people[static_cast<std::size_t>(dice.between(0, 29999))];
    if (dice.between(1, 100) > 30 + p.age / 2 + (p.id % 40 == 0 ? 40 : 0)) continue;
    visit(p, dice);
    ++rows;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
