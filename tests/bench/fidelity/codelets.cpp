// What published programs do on a tile, written anew (fidelity.c says which and where they are): the same loads, operations
// and stores in the same loops, in types of the same width.
#include <ipu_memory_intrinsics>
#include <ipudef.h>
#include <poplar/Vertex.hpp>

using namespace poplar;

typedef float pair __attribute__((ext_vector_type(2)));

// pi as the area under 4 / (1 + x^2), `unroll` slices in a round
template <unsigned unroll> class Pi : public Vertex
{
public:
  Input<unsigned> id;
  Input<unsigned> n;
  Input<float> slice;
  Output<float> out;

  bool compute()
  {
    float sum = 0;
    for (unsigned j = id * n; j < (id + 1) * n; j += unroll)
#pragma unroll
      for (unsigned i = 0; i < unroll; ++i) {
        float x = (unroll == 1 ? j - 0.5f : j + float(i) - 0.5f) * slice;
        sum += 4.0f / (1.0f + x * x);
      }
    *out = sum;
    return true;
  }
};

template class Pi<1>;
template class Pi<2>;
template class Pi<12>;

// A hundred rounds of nothing, counted in memory, on the supervisor
class EmptyLoop : public SupervisorVertex
{
public:
  Output<unsigned> out;

  bool compute()
  {
    volatile int i = 0;
    while (i < 100) ++i;
    *out = i;
    return true;
  }
};

template <typename T, int lanes> struct Pack {
  typedef T type;
};
template <> struct Pack<float, 2> {
  typedef float2 type;
};
template <> struct Pack<half, 4> {
  typedef half4 type;
};

// 3 x 3 blur of pixels of four channels; `in` has a border of one pixel
template <typename T, int lanes> class Blur : public Vertex
{
public:
  Input<Vector<T, VectorLayout::ONE_PTR, 8>> in;
  Output<Vector<T, VectorLayout::ONE_PTR, 8>> out;
  unsigned height, width;

  bool compute()
  {
    typedef typename Pack<T, lanes>::type V;
    constexpr unsigned count = 4 / lanes;
    const V *from = reinterpret_cast<const V *>(&in[0]);
    V *to = reinterpret_cast<V *>(&out[0]);
    for (unsigned y = 0; y < height; ++y)
      for (unsigned x = 0; x < width; ++x)
#pragma unroll
        for (unsigned c = 0; c < count; ++c) {
          auto at = [&](int down, int right) {
            return from[count * ((width + 2) * (y + 1 + down) + (x + 1 + right)) + c];
          };
          to[count * (width * y + x) + c] =
              T(1.f / 16) * (at(-1, -1) + at(-1, 1) + at(1, -1) + at(1, 1)) +
              T(4.f / 16) * at(0, 0) + T(2.f / 16) * (at(0, 1) + at(0, -1) + at(1, 0) + at(-1, 0));
        }
    return true;
  }
};

template class Blur<float, 1>;
template class Blur<float, 2>;
template class Blur<half, 4>;

// One step of the heat equation. Two neighbours at a time; the outermost columns, which have no partner, alone.
class Heat2d : public Vertex
{
public:
  Vector<Input<Vector<float, VectorLayout::SPAN, 8>>> in;
  Vector<Output<Vector<float, VectorLayout::SPAN, 4>>> out;
  unsigned height, width;
  float alpha;

  bool compute()
  {
    const float beta = 1.0f - 4.0f * alpha;
    for (unsigned i = 1; i <= height; ++i) {
      out[i - 1][0] = one(i, 1, beta);
      if (width % 2 == 0) out[i - 1][width - 1] = one(i, width, beta);
    }
    for (unsigned i = 1; i <= height; ++i) {
      const pair *north = reinterpret_cast<const pair *>(&in[i - 1][0]);
      const pair *middle = reinterpret_cast<const pair *>(&in[i][0]);
      const pair *south = reinterpret_cast<const pair *>(&in[i + 1][0]);
      for (unsigned j = 1; j < (width + 1) / 2; ++j) {
        pair sides = {middle[j - 1].y + middle[j].y, middle[j].x + middle[j + 1].x};
        sides = beta * middle[j] + alpha * (north[j] + sides + south[j]);
        out[i - 1][2 * j - 1] = sides.x;
        out[i - 1][2 * j] = sides.y;
      }
    }
    return true;
  }

private:
  float one(unsigned i, unsigned j, float beta)
  {
    return beta * in[i][j] + alpha * (in[i + 1][j] + in[i - 1][j] + in[i][j + 1] + in[i][j - 1]);
  }
};

class Heat3d : public Vertex
{
public:
  Vector<Input<Vector<float, VectorLayout::SPAN, 8>>> in;
  Vector<Output<Vector<float, VectorLayout::SPAN, 4>>> out;
  unsigned height, width, depth;
  float alpha;

  bool compute()
  {
    const float beta = 1.0f - 6.0f * alpha;
    for (unsigned x = 1; x <= height; ++x)
      for (unsigned y = 1; y <= width; ++y) {
        float *to = &out[(y - 1) + (x - 1) * width][0];
        to[0] = one(x, y, 1, beta);
        if (depth % 2 == 0) to[depth - 1] = one(x, y, depth, beta);
      }
    for (unsigned x = 1; x <= height; ++x)
      for (unsigned y = 1; y <= width; ++y) {
        const pair *top = pairs(x - 1, y), *bottom = pairs(x + 1, y), *middle = pairs(x, y);
        const pair *left = pairs(x, y - 1), *right = pairs(x, y + 1);
        float *to = &out[(y - 1) + (x - 1) * width][0];
        for (unsigned z = 1; z < (depth + 1) / 2; ++z) {
          pair sides = {middle[z - 1].y + middle[z].y, middle[z].x + middle[z + 1].x};
          sides = beta * middle[z] + alpha * (sides + top[z] + bottom[z] + left[z] + right[z]);
          to[2 * z - 1] = sides.x;
          to[2 * z] = sides.y;
        }
      }
    return true;
  }

private:
  const float *row(unsigned x, unsigned y) { return &in[y + x * (width + 2)][0]; }
  const pair *pairs(unsigned x, unsigned y) { return reinterpret_cast<const pair *>(row(x, y)); }
  float one(unsigned x, unsigned y, unsigned z, float beta)
  {
    const float *middle = row(x, y);
    return beta * middle[z] + alpha * (row(x - 1, y)[z] + row(x + 1, y)[z] + row(x, y - 1)[z] +
                                       row(x, y + 1)[z] + middle[z + 1] + middle[z - 1]);
  }
};

// The same step, a point at a time
class Heat3dSimple : public Vertex
{
public:
  Vector<Input<Vector<float, VectorLayout::SPAN, 8>>> in;
  Vector<Output<Vector<float, VectorLayout::SPAN, 4>>> out;
  unsigned height, width, depth;
  float alpha;

  bool compute()
  {
    const float beta = 1.0f - 6.0f * alpha;
    const unsigned padded = width + 2;
    for (unsigned x = 1; x <= height; ++x)
      for (unsigned y = 1; y <= width; ++y)
        for (unsigned z = 1; z <= depth; ++z)
          out[(y - 1) + (x - 1) * width][z - 1] =
              beta * in[y + x * padded][z] +
              alpha * (in[y + (x + 1) * padded][z] + in[y + (x - 1) * padded][z] +
                       in[y + 1 + x * padded][z] + in[y - 1 + x * padded][z] +
                       in[y + x * padded][z + 1] + in[y + x * padded][z - 1]);
    return true;
  }
};

// One step of a diffusion, of fourth order in space
class Diffusion3d : public Vertex
{
public:
  Vector<Input<Vector<float, VectorLayout::SPAN, 8>>> in;
  Vector<Output<Vector<float, VectorLayout::SPAN, 4>>> out;
  unsigned height, width, depth, border;
  float alpha, dt, r0, r1, r2, r3;

  bool compute()
  {
    const unsigned w = width + 2 * border;
    for (unsigned x = border; x < height + border; ++x)
      for (unsigned y = border; y < width + border; ++y)
        for (unsigned z = border; z < depth + border; ++z) {
          const float middle = -2.5f * in[y + x * w][z];
          auto sides = [&](float far1, float far2, float near1, float near2) {
            return middle - 8.33333333e-2f * (far1 + far2) + 1.33333333f * (near1 + near2);
          };
          out[(y - border) + (x - border) * width][z - border] =
              dt * (alpha * (r1 * sides(in[y + (x - 2) * w][z], in[y + (x + 2) * w][z],
                                        in[y + (x - 1) * w][z], in[y + (x + 1) * w][z]) +
                             r2 * sides(in[y - 2 + x * w][z], in[y + 2 + x * w][z],
                                        in[y - 1 + x * w][z], in[y + 1 + x * w][z]) +
                             r3 * sides(in[y + x * w][z - 2], in[y + x * w][z + 2],
                                        in[y + x * w][z - 1], in[y + x * w][z + 1])) +
                    r0 * in[y + x * w][z]);
        }
    return true;
  }
};

// One step of the Aliev-Panfilov model: excitation e, with its neighbours, and recovery r
class AlievPanfilov : public Vertex
{
public:
  Vector<Input<Vector<float, VectorLayout::SPAN, 4>>> in;
  Vector<Output<Vector<float, VectorLayout::SPAN, 4>>> out;
  Vector<InOut<Vector<float, VectorLayout::SPAN, 4>>> r;
  unsigned height, width;
  float delta, epsilon, my1, my2, h, dt, k, a, b;

  bool compute()
  {
    const float d = delta / (h * h);
    for (unsigned i = 1; i <= height; ++i)
      for (unsigned j = 1; j <= width; ++j) {
        out[i - 1][j - 1] =
            in[i][j] +
            dt * (d * (-4 * in[i][j] + in[i + 1][j] + in[i - 1][j] + in[i][j + 1] + in[i][j - 1]) -
                  k * in[i][j] * (in[i][j] - a) * (in[i][j] - 1) - in[i][j] * r[i - 1][j - 1]);
        r[i - 1][j - 1] += dt * (-epsilon - my1 * r[i - 1][j - 1] / (my2 + in[i][j])) *
                           (r[i - 1][j - 1] + k * in[i][j] * (in[i][j] - b - 1));
      }
    return true;
  }
};

// A number is added to two floats at a time, which may or may not be loaded and stored together
class AddUnaligned : public Vertex
{
public:
  InOut<Vector<float>> data;
  float number;

  bool compute()
  {
    float *floats = &data[0], what = number;
    for (unsigned count = data.size() / 2; count > 0; --count, floats += 2) {
      pair sum = pair{floats[0], floats[1]} + what;
      floats[0] = sum.x;
      floats[1] = sum.y;
    }
    return true;
  }
};

class AddAligned : public Vertex
{
public:
  InOut<Vector<float, VectorLayout::ONE_PTR, 8>> data;
  unsigned size;
  float number;

  bool compute()
  {
    pair *pairs = reinterpret_cast<pair *>(&data[0]), what = number;
    for (unsigned count = size / 2; count > 0; --count) *pairs++ += what;
    return true;
  }
};

// Matrix times vector, in segments of rows
class Dot : public Vertex
{
public:
  Input<Vector<float>> a, b;
  Output<float> out;

  bool compute()
  {
    float sum = 0;
    for (unsigned i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    *out = sum;
    return true;
  }
};

class Sum : public Vertex
{
public:
  Input<Vector<float>> in;
  Output<float> out;

  bool compute()
  {
    float sum = 0;
    for (unsigned i = 0; i < in.size(); ++i) sum += in[i];
    *out = sum;
    return true;
  }
};

// Points of four coordinates, each times one 4 x 4 matrix, in place; the matrix is read anew for each, as points may be it
class Transform : public MultiVertex
{
public:
  Input<Vector<float>> matrix;
  InOut<Vector<float>> points;

  bool compute(unsigned worker)
  {
    for (unsigned p = 4 * worker; p < points.size(); p += 4 * numWorkers()) {
      float x = points[p], y = points[p + 1], z = points[p + 2], w = points[p + 3];
      for (unsigned row = 0; row < 4; ++row)
        points[p + row] = matrix[4 * row] * x + matrix[4 * row + 1] * y + matrix[4 * row + 2] * z +
                          matrix[4 * row + 3] * w;
    }
    return true;
  }
};

// The same by pairs of coordinates, two points in a round
class TransformPairs : public MultiVertex
{
public:
  Input<Vector<float, VectorLayout::SPAN, 8>> matrix;
  InOut<Vector<float, VectorLayout::SPAN, 8>> points;

  bool compute(unsigned worker)
  {
    const float2 *from = reinterpret_cast<float2 *>(&points[8 * worker]);
    float *to = &points[8 * worker];
    const float *const end = &points[0] + points.size();
    while (to < end) {
      to = one(&from, to, 1);
      to = one(&from, to, 4 * numWorkers() - 3);
      to += 8 * (numWorkers() - 1);
    }
    return true;
  }

private:
  // `step`: to the next point, in pairs, from this one's second pair
  float *one(const float2 **from, float *to, int step)
  {
    float2 xy = ipu::load_postinc(from, 1), zw = ipu::load_postinc(from, step);
    for (unsigned row = 0; row < 4; ++row) {
      float2 left = {matrix[4 * row], matrix[4 * row + 1]};
      float2 right = {matrix[4 * row + 2], matrix[4 * row + 3]};
      float2 sums = left * xy + right * zw;
      *to++ = sums[0] + sums[1];
    }
    return to;
  }
};

// row -= first * second * v, a step of the QR decomposition by Householder; starts: each worker's first pair, and the end
class Householder : public MultiVertex
{
public:
  InOut<Vector<float, VectorLayout::ONE_PTR, 8>> row;
  Input<Vector<float, VectorLayout::SPAN, 8>> v;
  Input<Vector<float, VectorLayout::ONE_PTR>> first, second;
  Input<Vector<unsigned short, VectorLayout::ONE_PTR>> starts;
  unsigned short begin;

  bool compute(unsigned worker)
  {
    unsigned short start = starts[worker], count = starts[worker + 1] - start;
    const float scale = -first[0] * second[0];
    const float2 *from = reinterpret_cast<const float2 *>(&row[begin]) + start;
    const float2 *other = reinterpret_cast<const float2 *>(&v[0]) + start;
    float2 *to = reinterpret_cast<float2 *>(&row[begin]) + start;
    for (unsigned short i = 0; i < count; ++i) {
      float2 x = ipu::load_postinc(&from, 1);
      ipu::store_postinc(&to, x + scale * ipu::load_postinc(&other, 1), 1);
    }
    return true;
  }
};

// Rotates points whose coordinates are in two rows; a pass for each row. starts: as above
class Rotation : public MultiVertex
{
public:
  Input<Vector<float, VectorLayout::ONE_PTR, 8>> cosine_sine;
  Input<Vector<float, VectorLayout::ONE_PTR, 8>> x, y;
  Output<Vector<float, VectorLayout::ONE_PTR, 8>> x_out, y_out;
  Input<Vector<unsigned short, VectorLayout::ONE_PTR>> starts;

  bool compute(unsigned worker)
  {
    unsigned short start = starts[worker], count = starts[worker + 1] - start;
    const float c = cosine_sine[0], s = cosine_sine[1];
    pass(c, -s, start, count, &x_out[0]);
    pass(s, c, start, count, &y_out[0]);
    return true;
  }

private:
  void pass(float a, float b, unsigned short start, unsigned short count, float *out)
  {
    const float2 *left = reinterpret_cast<const float2 *>(&x[0]) + start;
    const float2 *right = reinterpret_cast<const float2 *>(&y[0]) + start;
    float2 *to = reinterpret_cast<float2 *>(out) + start;
    for (unsigned short i = 0; i < count; ++i) {
      float2 sum = a * ipu::load_postinc(&left, 1);
      ipu::store_postinc(&to, sum + b * ipu::load_postinc(&right, 1), 1);
    }
  }
};

// The rotation that makes a symmetric 2 x 2 matrix diagonal, from entries of two columns
class Schur : public Vertex
{
public:
  Input<Vector<unsigned, VectorLayout::ONE_PTR, 8>> places;
  Input<Vector<float, VectorLayout::ONE_PTR, 8>> p, q;
  Output<Vector<float, VectorLayout::ONE_PTR, 8>> out;

  bool compute()
  {
    const unsigned i = places[0], j = places[1];
    const float off = 2 * p[j], difference = q[j] - p[i];
    const float off2 = off * off, difference2 = difference * difference;
    float cosine = 1, sine = 0;
    if (off2 > difference2 * 1e-12f) {
      const float norm = __builtin_sqrtf(off2 + difference2);
      const float t = off / (difference >= 0 ? difference + norm : difference - norm);
      cosine = 1 / __builtin_sqrtf(1 + t * t);
      sine = t * cosine;
    }
    out[0] = cosine;
    out[1] = sine;
    return true;
  }
};
