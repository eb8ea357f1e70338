// SPDX-License-Identifier: GPL-2.0-only
//
// A tree as SVG: levels from left to right, one box a node with one row a slot, a bar that shows how full it
// is.
// A child's box begins beside its slot or lower, so that lines never cross.

#include "tools/kmirror/tree_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kmirror::command {
namespace {

constexpr int kRow = 15, kChar = 7, kMargin = 12, kBetween = 46;  // in pixels
constexpr const char* kStyle =
    "text{font:11px monospace;fill:#222}.t{font-weight:bold}.g{fill:#999}"
    ".n{fill:#fff;stroke:#555}.h{fill:#e4e9f2;stroke:#555}.new{fill:#bfe8bf}.gone{fill:#f3c4c4}"
    ".b{fill:#cfd6e4}.u{fill:#4a6fb5}path{fill:none;stroke:#888}";

struct Box {
    int x = 0, y = 0, width = 0, height = 0;
};

std::string xml(const std::string& text) {
    std::string result;
    for (char c : text)
        result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return result;
}

std::string line(int x, int y, const std::string& text, const char* style = "") {
    return fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", x, y, style, xml(text));
}

class Side {
public:
    Side(const TreeShape& shape, const char* changed, int x, int y)
        : shape_(shape), changed_(changed), y_(y) {
        right_ = x;
        bottom_ = y + 2 * kRow;
        boxes_.resize(shape.nodes.size());
        widths();
        for (std::size_t depth = 0; depth < widths_.size(); ++depth) {
            lefts_.push_back(depth == 0 ? x : right_ + kBetween);
            right_ = lefts_.back() + widths_[depth];
        }
        if (shape.nodes.empty()) right_ = x + 30 * kChar;
        if (!shape.nodes.empty()) place(0, y);
    }

    int right() const { return right_; }
    int bottom() const { return bottom_; }

    std::string drawn() const {
        std::string text;
        if (shape_.nodes.empty())
            return line(right_ - 30 * kChar, y_ + kRow,
                        shape_.lone.empty() ? "(empty)" : "no node, 0x0: " + shape_.lone);
        for (std::size_t i = 0; i < boxes_.size(); ++i) text += node(shape_.nodes[i], boxes_[i]);
        return text;
    }

private:
    void widths() {
        for (const TreeNode& node : shape_.nodes) {
            if (node.depth >= widths_.size()) widths_.resize(node.depth + 1, 0);
            std::size_t longest = std::max(node_title(node).size(), node_fill(node).size() + 9);
            for (const TreeSlot& slot : node.slots) longest = std::max(longest, slot_text(node, slot).size());
            widths_[node.depth] = std::max(widths_[node.depth], static_cast<int>(longest) * kChar + 12);
        }
    }

    // The node's box at `y` or lower; returns the first free pixel below it and its children.
    int place(int index, int y) {
        const TreeNode& node = shape_.nodes[index];
        Box& box = boxes_[index];
        box = {lefts_[node.depth], y, widths_[node.depth],
               static_cast<int>(2 + node.slots.size()) * kRow + 6};
        int below = y;
        for (const TreeSlot& slot : node.slots)
            if (slot.child >= 0) below = place(slot.child, below);
        const int end = std::max(box.y + box.height + kMargin, below);
        bottom_ = std::max(bottom_, end);
        return end;
    }

    std::string node(const TreeNode& node, const Box& box) const {
        std::string text = fmt::format(
            "<rect class=\"n\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n"
            "<rect class=\"h {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
            box.x, box.y, box.width, box.height, node.changed ? changed_ : "", box.x, box.y, box.width,
            2 * kRow + 2);
        text += line(box.x + 6, box.y + kRow - 3, node_title(node), "t");
        text += line(box.x + 6, box.y + 2 * kRow - 3, node_fill(node));
        text += bar(node, box);
        for (std::size_t i = 0; i < node.slots.size(); ++i) text += slot(node, i, box);
        return text;
    }

    static std::string bar(const TreeNode& node, const Box& box) {
        constexpr int kBar = 48;
        const int used = static_cast<int>(kBar * node.slots.size() / node.capacity);
        const int x = box.x + box.width - kBar - 6, y = box.y + kRow + 4;
        return fmt::format("<rect class=\"b\" x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"8\"/>\n"
                           "<rect class=\"u\" x=\"{0}\" y=\"{1}\" width=\"{3}\" height=\"8\"/>\n",
                           x, y, kBar, used);
    }

    std::string slot(const TreeNode& node, std::size_t i, const Box& box) const {
        const TreeSlot& slot = node.slots[i];
        const int y = box.y + static_cast<int>(3 + i) * kRow - 1;
        const bool nothing = node.type == TreeNode::Leaf && slot.entry.empty();
        std::string text = line(box.x + 6, y, slot_text(node, slot), nothing ? "g" : "");
        if (slot.child < 0) return text;
        const Box& child = boxes_[slot.child];
        const int from = box.x + box.width, middle = (from + child.x) / 2, to = child.y + kRow;
        return text + fmt::format("<path d=\"M{} {}C{} {} {} {} {} {}\"/>\n", from, y - 4, middle, y - 4,
                                  middle, to, child.x, to);
    }

    const TreeShape& shape_;
    const char* changed_;
    int y_, right_ = 0, bottom_ = 0;
    std::vector<Box> boxes_;
    std::vector<int> widths_, lefts_;  // by depth
};

}  // namespace

std::string tree_svg(const TreePicture& picture) {
    const int top = kMargin + (picture.title.empty() ? 0 : 2 * kRow);
    std::string body;
    int left = kMargin, right = 0, bottom = top;
    if (!picture.title.empty()) body += line(kMargin, kMargin + kRow, picture.title, "t");
    const auto add = [&](const TreeShape& shape, const char* label, const char* changed) {
        const int y = top + (label[0] ? kRow + 6 : 0);
        const Side side(shape, changed, left, y);
        if (label[0]) body += line(left, top + kRow - 4, label, "t");
        body += side.drawn();
        right = side.right();
        bottom = std::max(bottom, side.bottom());
        left = right + 2 * kBetween;
    };
    if (picture.before != nullptr) add(*picture.before, "before", "gone");
    add(*picture.after, picture.before != nullptr ? "after" : "", "new");
    const int title = static_cast<int>(picture.title.size()) * (kChar + 1);
    const int width = std::max(right, kMargin + title) + kMargin;
    return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                       "viewBox=\"0 0 {0} {1}\">\n<style>{2}</style>\n"
                       "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{3}</svg>\n",
                       width, bottom + kMargin, kStyle, body);
}

}  // namespace kmirror::command
