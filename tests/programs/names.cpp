// As names.c, in C++: namespaces, classes, templates, std::array, new.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

namespace ns {
double field[6][7];
namespace {
int hidden[5];
}
namespace deep {
std::array<double, 12> fixed;
std::array<std::array<int, 3>, 2> nested;
}
}

struct Point { double x, y; };
class Store {
public:
    static long shared[4];
    static inline int tally[3] = {1, 2, 3};
    double *data = nullptr;
    void fill(std::size_t n);
};
long Store::shared[4];
template <typename T> struct Holder { static T slots[8]; };
template <typename T> T Holder<T>::slots[8];
std::vector<int> numbers;
Point *points;
Point &first() { static Point one[2]; return one[0]; }

#define VAR(x) std::printf("var " #x " %p %zu\n", (void *)&(x), sizeof(x))

__attribute__((noinline)) void *operator new[](std::size_t bytes) {
    std::printf("call %p 0\n", __builtin_return_address(0));
    return std::malloc(bytes);
}
void operator delete[](void *p) noexcept { std::free(p); }
void operator delete[](void *p, std::size_t) noexcept { std::free(p); }

__attribute__((noinline)) void *take(std::size_t bytes) {
    std::printf("call %p 0\n", __builtin_return_address(0));
    return std::malloc(bytes);
}
__attribute__((noinline)) void use(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

__attribute__((noinline)) void Store::fill(std::size_t n) {
    data = new double[n]; // -> data double 8
    use(data);
    this->data = static_cast<double *>(take(n)); // -> this->data double 8
    use(data);
}

__attribute__((noinline)) void calls(std::size_t n) {
    points = new Point[n]; // -> points Point 16
    use(points);
    auto *q = new (std::nothrow) int[1]; // -> q int 4
    use(q);
    float *f = reinterpret_cast<float *>(take(n)); // -> f float 4
    use(f);
    Holder<short> *h = (Holder<short> *)take(n); // -> h Holder<short int> 1
    use(h);
}

int main() {
    using namespace ns;
    VAR(ns::field); VAR(hidden); VAR(ns::deep::fixed); VAR(ns::deep::nested); VAR(Store::shared); VAR(Store::tally);
    VAR(Holder<short>::slots); VAR(numbers); VAR(points);
    Holder<short>::slots[1] = 2;
    Point &one = first();
    std::printf("var one %p %zu\n", (void *)&one, 2 * sizeof(Point));
    Store s;
    s.fill(3);
    calls(4);
    return 0;
}
